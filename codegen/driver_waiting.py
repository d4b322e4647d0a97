"""How the threads of :mod:`.driver` pause, count time and sleep, by architecture and operating system."""

from __future__ import annotations

from .cpu import usual_name


def waiting_ir(triple: str) -> str:
    """LLVM IR of ``@pause``, ``@ticks``, ``@stall_ticks``, ``@sleep``, ``@wake``, ``@core`` (or -1)."""
    architecture = usual_name(triple.split("-")[0])
    text = _ARCHITECTURES.get(architecture, _OTHER)
    number = {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(architecture)
    if "linux" in triple and number is not None:
        return text + _FUTEX.replace("<FUTEX>", str(number))
    return text + (_WINDOWS_SLEEP if "windows" in triple else _SLEEP)


# @stall_ticks: so many ticks are some 200 us. x86 counts at 2 to 4 GHz; AArch64 says at how many Hz it does,
# 25 MHz to 1 GHz (LLVM's own readsteadycounter is 0 there). Its `yield` takes no time on most cores, so who
# waits uses a barrier that takes about as long as x86's pause.
_OTHER = """
define internal void @pause() alwaysinline {
  ret void
}
define internal i64 @ticks() alwaysinline {
  ret i64 0
}
define internal i64 @stall_ticks() alwaysinline {
  ret i64 1
}
"""
_ARCHITECTURES = {
    "x86_64": """
define internal void @pause() alwaysinline {
  call void @llvm.x86.sse2.pause()
  ret void
}
declare void @llvm.x86.sse2.pause()
define internal i64 @ticks() alwaysinline {
  %t = call i64 @llvm.readcyclecounter()
  ret i64 %t
}
declare i64 @llvm.readcyclecounter()
define internal i64 @stall_ticks() alwaysinline {
  ret i64 600000
}
""",
    "aarch64": """
define internal void @pause() alwaysinline {
  call void @llvm.aarch64.isb(i32 15)
  ret void
}
declare void @llvm.aarch64.isb(i32)
define internal i64 @ticks() alwaysinline {
  %t = call i64 @llvm.read_volatile_register.i64(metadata !1)
  ret i64 %t
}
declare i64 @llvm.read_volatile_register.i64(metadata)
define internal i64 @stall_ticks() alwaysinline {
  %hz = call i64 @llvm.read_register.i64(metadata !0)
  %ticks = udiv i64 %hz, 5000
  ret i64 %ticks
}
declare i64 @llvm.read_register.i64(metadata)
!0 = !{!"cntfrq_el0"}
!1 = !{!"cntvct_el0"}
""",
}

_FUTEX = """
; Sleep while the word is as it was seen; wake everybody who sleeps on it. Private futexes of this process.
define internal void @sleep(ptr %word, i32 %seen) noinline {
  %r = call i64 (i64, ...) @syscall(i64 <FUTEX>, ptr %word, i64 128, i32 %seen, ptr null, ptr null, i64 0)
  ret void
}
define internal void @wake(ptr %word) noinline {
  %r = call i64 (i64, ...) @syscall(i64 <FUTEX>, ptr %word, i64 129, i64 65536, ptr null, ptr null, i64 0)
  ret void
}
declare i64 @syscall(i64, ...)
define internal i32 @core() alwaysinline {
  %c = call i32 @sched_getcpu()
  ret i32 %c
}
declare i32 @sched_getcpu()
"""

_SLEEP = """
; No futex: sleep for 50 us, and look again.
define internal void @sleep(ptr %word, i32 %seen) noinline {
  %r = call i32 @usleep(i32 50)
  ret void
}
define internal void @wake(ptr %word) {
  ret void
}
declare i32 @usleep(i32)
define internal i32 @core() alwaysinline {
  ret i32 -1
}
"""

_WINDOWS_SLEEP = _SLEEP.replace("i32 @usleep(i32 50)", "i32 @SleepEx(i32 1, i32 0)").replace(
    "i32 @usleep(i32)", "i32 @SleepEx(i32, i32)"
)
