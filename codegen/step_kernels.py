"""The LLVM IR of kernels that every program has at hand: one copies bytes, the others run steps."""

from __future__ import annotations

from .program import COPY_UNIT, FOR, IF, KERNEL, WHILE


def copy_ir() -> str:
    """The LLVM IR of the kernel ``copy``: a row of source, destination, bytes."""
    return _COPY.replace("<KERNEL>", KERNEL).replace("<COPY_UNIT>", str(COPY_UNIT))


def control_ir(kind: str) -> str:
    """The LLVM IR of the kernels that run steps, on the thread that they are on."""
    text = _CONTROL + {IF: _HOLDS + _IF, WHILE: _HOLDS + _WHILE, FOR: _FOR}[kind]
    return text.replace("<KERNEL>", KERNEL)


_COPY = """
define void @<KERNEL>(ptr %row, i64 %begin, i64 %end) {
  %source = load ptr, ptr %row
  %target.p = getelementptr i64, ptr %row, i64 1
  %target = load ptr, ptr %target.p
  %bytes.p = getelementptr i64, ptr %row, i64 2
  %bytes = load i64, ptr %bytes.p
  %first = mul i64 %begin, <COPY_UNIT>
  %last = mul i64 %end, <COPY_UNIT>
  %stop = call i64 @llvm.smin.i64(i64 %last, i64 %bytes)
  %size = sub i64 %stop, %first
  %from = getelementptr i8, ptr %source, i64 %first
  %to = getelementptr i8, ptr %target, i64 %first
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
}
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""

_CONTROL = """
%step = type { ptr, ptr, i64, i64, i64, i64, i64 }

define internal void @steps(ptr %row, i64 %slot) noinline {
  %first.p = getelementptr i64, ptr %row, i64 %slot
  %first = load ptr, ptr %first.p
  %end.p = getelementptr i64, ptr %first.p, i64 1
  %end = load ptr, ptr %end.p
  %empty = icmp eq ptr %first, %end
  br i1 %empty, label %exit, label %next
next:
  %one = phi ptr [ %first, %0 ], [ %following, %next ]
  %kernel = load ptr, ptr %one
  %row.p = getelementptr %step, ptr %one, i64 0, i32 1
  %its = load ptr, ptr %row.p
  %units.p = getelementptr %step, ptr %one, i64 0, i32 2
  %units = load i64, ptr %units.p
  call void %kernel(ptr %its, i64 0, i64 %units)
  %following = getelementptr %step, ptr %one, i64 1
  %over = icmp eq ptr %following, %end
  br i1 %over, label %exit, label %next
exit:
  ret void
}
"""

_HOLDS = """
define internal i1 @holds(ptr %row) {
  %condition = load ptr, ptr %row
  %byte = load i8, ptr %condition
  %holds = icmp ne i8 %byte, 0
  ret i1 %holds
}
"""

_IF = """
define void @<KERNEL>(ptr %row, i64 %begin, i64 %end) {
  %holds = call i1 @holds(ptr %row)
  %slot = select i1 %holds, i64 1, i64 3
  call void @steps(ptr %row, i64 %slot)
  ret void
}
"""

_WHILE = """
define void @<KERNEL>(ptr %row, i64 %begin, i64 %end) {
entry:
  br label %ask
ask:
  call void @steps(ptr %row, i64 1)
  %holds = call i1 @holds(ptr %row)
  br i1 %holds, label %body, label %exit
body:
  call void @steps(ptr %row, i64 3)
  br label %ask
exit:
  ret void
}
"""

_FOR = """
define void @<KERNEL>(ptr %row, i64 %begin, i64 %end) {
entry:
  %count.p = getelementptr i64, ptr %row, i64 2
  %count = load i64, ptr %count.p
  br label %body
body:
  %time = phi i64 [ 0, %entry ], [ %next, %body ]
  call void @steps(ptr %row, i64 0)
  call void @move(ptr %row, i64 1)
  %next = add i64 %time, 1
  %again = icmp ult i64 %next, %count
  br i1 %again, label %body, label %exit
exit:
  %back = sub i64 0, %count
  call void @move(ptr %row, i64 %back)
  ret void
}

; Move slots of the steps' rows on by some times.
define internal void @move(ptr %row, i64 %times) {
entry:
  %slots.p = getelementptr i64, ptr %row, i64 3
  %slots = load i64, ptr %slots.p
  %first = getelementptr i64, ptr %row, i64 4
  %none = icmp eq i64 %slots, 0
  br i1 %none, label %exit, label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %offset = mul i64 %i, 3
  %triple = getelementptr i64, ptr %first, i64 %offset
  %step = load ptr, ptr %triple
  %slot.p = getelementptr i64, ptr %triple, i64 1
  %slot = load i64, ptr %slot.p
  %bytes.p = getelementptr i64, ptr %triple, i64 2
  %bytes = load i64, ptr %bytes.p
  %its.p = getelementptr %step, ptr %step, i64 0, i32 1
  %its = load ptr, ptr %its.p
  %place = getelementptr i64, ptr %its, i64 %slot
  %old = load i64, ptr %place
  %by = mul i64 %bytes, %times
  %new = add i64 %old, %by
  store i64 %new, ptr %place
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %slots
  br i1 %more, label %next, label %exit
exit:
  ret void
}
"""
