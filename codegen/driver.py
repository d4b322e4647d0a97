"""The code that runs a program's steps, alone or with a team of threads: LLVM IR, compiled once per machine.

``void run(i64 *table)`` and ``void profile(i64 *table, i64 *times)`` take a table of 8-byte words:

    team (address or 0), number of steps, then for each step
    kernel, row (addresses), units, units of a chunk, number of chunks, claims, early steps

``void work(i64 *team)`` is what the other threads of a team are in until ``void stop(i64 *team)``, which does
nothing while the team runs for somebody. How they share a step of several chunks is in :mod:`.driver_team`.

A step of several chunks may have *early steps*: so many before it do not change what it reads, nor the other
way round, and their number of chunks is 0. The main thread runs them when the others have begun with it.
"""

from __future__ import annotations

import re

from . import driver_team
from .driver_waiting import waiting_ir

DRIVER = "driver"
RUN, PROFILE, WORK, STOP_TEAM = "run", "profile", "work", "stop"
HEADER_WORDS, STEP_WORDS = 2, 7


def driver_ir(triple: str) -> str:
    """The LLVM IR of the driver for a machine and its operating system."""
    text = _RUN + driver_team.TEAM_IR + waiting_ir(triple) + ("" if "windows" in triple else _PROFILE)
    named = {**vars(driver_team), **globals()}
    named["CLOCK"] = 1 if "linux" in triple else 6  # CLOCK_MONOTONIC
    return re.sub(r"<([A-Z_]+)>", lambda found: str(named[found[1]]), text)


_RUN = """
%step = type { ptr, ptr, i64, i64, i64, i64, i64 }

; Run the units of some chunks.
define internal void @run_chunks(ptr %step, i64 %first, i64 %past) alwaysinline {
  %kernel = load ptr, ptr %step
  %row.p = getelementptr %step, ptr %step, i64 0, i32 1
  %row = load ptr, ptr %row.p
  %units.p = getelementptr %step, ptr %step, i64 0, i32 2
  %units = load i64, ptr %units.p
  %size.p = getelementptr %step, ptr %step, i64 0, i32 3
  %size = load i64, ptr %size.p
  %begin = mul i64 %first, %size
  %last = mul i64 %past, %size
  %end = call i64 @llvm.smin.i64(i64 %last, i64 %units)
  call void %kernel(ptr %row, i64 %begin, i64 %end)
  ret void
}

declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

; Run the whole of some steps.
define internal void @run_steps(ptr %first, ptr %end) alwaysinline {
steps.in:
  %empty = icmp eq ptr %first, %end
  br i1 %empty, label %exit, label %next
next:
  %step = phi ptr [ %first, %steps.in ], [ %following, %next ]
  %kernel = load ptr, ptr %step
  %row.p = getelementptr %step, ptr %step, i64 0, i32 1
  %row = load ptr, ptr %row.p
  %units.p = getelementptr %step, ptr %step, i64 0, i32 2
  %units = load i64, ptr %units.p
  call void %kernel(ptr %row, i64 0, i64 %units)
  %following = getelementptr %step, ptr %step, i64 1
  %over = icmp eq ptr %following, %end
  br i1 %over, label %exit, label %next
exit:
  ret void
}

; The first of a step and its early steps.
define internal ptr @early(ptr %step) alwaysinline {
  %early.p = getelementptr %step, ptr %step, i64 0, i32 6
  %early = load i64, ptr %early.p
  %back = sub i64 0, %early
  %first = getelementptr %step, ptr %step, i64 %back
  ret ptr %first
}

define void @run(ptr %table) {
  %team = load ptr, ptr %table
  %count.p = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.p
  %first = getelementptr i64, ptr %table, i64 <HEADER_WORDS>
  %end = getelementptr %step, ptr %first, i64 %count
  %none = icmp eq ptr %team, null
  br i1 %none, label %alone, label %ask

ask: ; a team without workers (a forked process), or one that runs for somebody else, is none
  %workers.p = getelementptr i8, ptr %team, i64 <WORKERS>
  %workers = load atomic i32, ptr %workers.p monotonic, align 4
  %busy.p = getelementptr i8, ptr %team, i64 <BUSY>
  %there = icmp ne i32 %workers, 0
  br i1 %there, label %take, label %alone
take:
  %taken = cmpxchg ptr %busy.p, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %taken, 1
  br i1 %mine, label %together, label %alone

alone:
  call void @run_steps(ptr %first, ptr %end)
  br label %exit

together:
  %alone.p = getelementptr i8, ptr %team, i64 <ALONE>
  %t.empty = icmp eq ptr %first, %end
  br i1 %t.empty, label %release, label %t.next
t.next:
  %t.step = phi ptr [ %first, %together ], [ %t.following, %t.done ]
  %chunks.p = getelementptr %step, ptr %t.step, i64 0, i32 4
  %chunks = load i64, ptr %chunks.p
  %t.following = getelementptr %step, ptr %t.step, i64 1
  %one = icmp eq i64 %chunks, 1
  br i1 %one, label %t.alone, label %t.more
t.more:
  %several = icmp sgt i64 %chunks, 1
  br i1 %several, label %t.several, label %t.done
t.several:
  %left = load i64, ptr %alone.p
  %with = icmp eq i64 %left, 0
  br i1 %with, label %t.share, label %t.skip
t.skip:
  %less = sub i64 %left, 1
  store i64 %less, ptr %alone.p
  %t.early = call ptr @early(ptr %t.step)
  call void @run_steps(ptr %t.early, ptr %t.following)
  br label %t.done
t.share:
  call void @share(ptr %team, ptr %t.step, i64 %chunks)
  br label %t.done
t.alone:
  call void @run_steps(ptr %t.step, ptr %t.following)
  br label %t.done
t.done:
  %t.over = icmp eq ptr %t.following, %end
  br i1 %t.over, label %release, label %t.next
release:
  store atomic i32 0, ptr %busy.p release, align 4
  br label %exit

exit:
  ret void
}
"""

_PROFILE = """
; As run alone; times[i] becomes the lower of itself and what step i took, in ns; the last is for no step.
define void @profile(ptr %table, ptr %times) {
profile.in:
  %count.p = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.p
  %first = getelementptr i64, ptr %table, i64 <HEADER_WORDS>
  br label %look
look:
  %i = phi i64 [ 0, %profile.in ], [ %i.next, %timed ]
  %begin = call i64 @now()
  %last = icmp eq i64 %i, %count
  br i1 %last, label %timed, label %step.run
step.run:
  %step = getelementptr %step, ptr %first, i64 %i
  %kernel = load ptr, ptr %step
  %row.p = getelementptr %step, ptr %step, i64 0, i32 1
  %row = load ptr, ptr %row.p
  %units.p = getelementptr %step, ptr %step, i64 0, i32 2
  %units = load i64, ptr %units.p
  call void %kernel(ptr %row, i64 0, i64 %units)
  br label %timed
timed:
  %end = call i64 @now()
  %took = sub i64 %end, %begin
  %time.p = getelementptr i64, ptr %times, i64 %i
  %best = load i64, ptr %time.p
  %lower = call i64 @llvm.smin.i64(i64 %best, i64 %took)
  store i64 %lower, ptr %time.p
  %i.next = add i64 %i, 1
  br i1 %last, label %exit, label %look
exit:
  ret void
}
define internal i64 @now() noinline {
  %time = alloca { i64, i64 }
  %r = call i32 @clock_gettime(i32 <CLOCK>, ptr %time)
  %seconds = load i64, ptr %time
  %rest.p = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.p
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}
declare i32 @clock_gettime(i32, ptr)
"""
