"""The code that runs a program's steps, alone or with a team of threads: LLVM IR, compiled once per machine.

``void run(i64 *table)`` and ``void profile(i64 *table, i64 *times)`` take a table of 8-byte words:

    team (address or 0), number of steps, then for each step
    kernel, row (addresses), units, units of a chunk, number of chunks, claims, early steps

``void work(i64 *team)`` is what the other threads of a team are in until ``void stop(i64 *team)``, which does
nothing while the team runs for somebody.

Work is claimed. For a step of several chunks the main thread publishes one 64-bit word, ``sequence:32 |
back:16 | front:16``. It takes chunks from the front, the others take them from the back, each with one
compare-and-swap, so from step to step a core mostly reads what it has written. Who claims takes one part in
``claims`` of the chunks that are left, at least one: large pieces at first, and small ones at the end, where
threads wait for each other. The step has ended when the chunks that others took are done. Nobody waits for
a thread that has taken nothing; one that lost its core delays the chunks it holds. A thread that comes late
sees another sequence number, and its swap fails.

A step of several chunks may have *early steps*: so many before it do not change what it reads, nor the other
way round, and their number of chunks is 0. The main thread runs them when the others have begun with it.

Where another process wants a core all the time, help costs more than it is worth. So the main thread keeps
account: it owes what it has waited, less what others did for it meanwhile. Others' cores are interrupted for
some ten microseconds all the time, which is soon paid back; one that is taken away is missed for
milliseconds. If the debt is too high, or a thread finds itself on the main thread's core, the next steps
of several chunks are run alone: 256, and twice as many each time it happens soon again.

Who waits spins for some microseconds, then sleeps (on a futex, where there are any). Others are woken only
if somebody sleeps: both sides write first and read the other's word after that, in one order for all.
"""

from __future__ import annotations

import re

from .cpu import usual_name
from .program import COPY_UNIT, FOR, IF, KERNEL, WHILE

DRIVER = "driver"
RUN, PROFILE, WORK, STOP_TEAM = "run", "profile", "work", "stop"
HEADER_WORDS, STEP_WORDS = 2, 7
TEAM_BYTES = 512
"""Zeros at first; see the offsets below. Starts on a 64-byte boundary."""
MAX_CHUNKS = 0x7FFF

# Offsets of the team's words, in bytes. Words that different threads write are on different cache lines.
_CLAIM, _SEQUENCE, _STEP, _CORE, _CLAIMS = 0, 4, 8, 16, 24
_DONE, _WAITING = 128, 132
_SLEEPERS, _STOP, _CROWDED = 256, 260, 264
_BUSY, WORKERS, _NEXT = 384, 388, 392
_ALONE, _LEVEL, _GOOD, _TOTAL, _DEBT = 400, 408, 416, 424, 432

_SPINS = 2000
"""Rounds of an idle thread before it sleeps: at a pause of 40 to 140 cycles, 25 to 100 us."""
_WAIT_SPINS = 1000
_STALL_STEPS, _STALL_LEVELS, _GOOD_STEPS = 256, 5, 512
"""After how many good steps a stall is forgotten."""


def driver_ir(triple: str) -> str:
    """The LLVM IR of the driver for a machine and its operating system."""
    text = _TEXT + _waiting(triple) + ("" if "windows" in triple else _PROFILE)
    numbers = {name.lstrip("_"): value for name, value in globals().items() if isinstance(value, int)}
    numbers["CLOCK"] = 1 if "linux" in triple else 6  # CLOCK_MONOTONIC
    return re.sub(r"<([A-Z_]+)>", lambda found: str(numbers[found[1]]), text)


def copy_ir() -> str:
    """The LLVM IR of the kernel ``copy``: a row of source, destination, bytes."""
    return _COPY.replace("<KERNEL>", KERNEL).replace("<COPY_UNIT>", str(COPY_UNIT))


def control_ir(kind: str) -> str:
    """The LLVM IR of the kernels that run steps, on the thread that they are on."""
    text = _CONTROL + {IF: _HOLDS + _IF, WHILE: _HOLDS + _WHILE, FOR: _FOR}[kind]
    return text.replace("<KERNEL>", KERNEL)


def _waiting(triple: str) -> str:
    """How to pause, to count time and to sleep."""
    architecture = usual_name(triple.split("-")[0])
    text = _ARCHITECTURES.get(architecture, _OTHER)
    number = {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(architecture)
    if "linux" in triple and number is not None:
        return text + _FUTEX.replace("<FUTEX>", str(number))
    return text + (_WINDOWS_SLEEP if "windows" in triple else _SLEEP)


_TEXT = """
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

; How many of the chunks that are left a thread claims.
define internal i64 @portion(i64 %front, i64 %back, i64 %claims) alwaysinline {
  %left = sub i64 %back, %front
  %left.short = trunc i64 %left to i32
  %claims.short = trunc i64 %claims to i32
  %part = udiv i32 %left.short, %claims.short
  %part.long = zext i32 %part to i64
  %some = call i64 @llvm.smax.i64(i64 %part.long, i64 1)
  ret i64 %some
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

; One step with the team: publish it, take chunks, wait for those that others took.
define internal void @share(ptr %team, ptr %step, i64 %chunks) noinline {
share.in:
  %step.p = getelementptr i8, ptr %team, i64 <STEP>
  store ptr %step, ptr %step.p
  %core.p = getelementptr i8, ptr %team, i64 <CORE>
  %core = call i32 @core()
  store atomic i32 %core, ptr %core.p monotonic, align 4
  %step.claims.p = getelementptr %step, ptr %step, i64 0, i32 5
  %claims = load i64, ptr %step.claims.p
  %claims.p = getelementptr i8, ptr %team, i64 <CLAIMS>
  store atomic i64 %claims, ptr %claims.p monotonic, align 8
  %done.p = getelementptr i8, ptr %team, i64 <DONE>
  %total.p = getelementptr i8, ptr %team, i64 <TOTAL>
  %total = load i32, ptr %total.p
  %next.p = getelementptr i8, ptr %team, i64 <NEXT>
  %previous = load i64, ptr %next.p
  %sequence = add i64 %previous, 1
  store i64 %sequence, ptr %next.p
  %high = shl i64 %sequence, 32
  %back = shl i64 %chunks, 16
  %empty.claim = or i64 %high, %back
  %mine = call i64 @portion(i64 0, i64 %chunks, i64 %claims)
  %claim = or i64 %empty.claim, %mine
  %old = atomicrmw xchg ptr %team, i64 %claim seq_cst
  %sleepers.p = getelementptr i8, ptr %team, i64 <SLEEPERS>
  %sleepers = load atomic i32, ptr %sleepers.p seq_cst, align 4
  %asleep = icmp sgt i32 %sleepers, 0
  br i1 %asleep, label %wake, label %begin
wake:
  %sequence.p = getelementptr i8, ptr %team, i64 <SEQUENCE>
  call void @wake(ptr %sequence.p)
  br label %begin
begin:
  %early = call ptr @early(ptr %step)
  call void @run_steps(ptr %early, ptr %step)
  %started = call i64 @ticks()
  call void @run_chunks(ptr %step, i64 0, i64 %mine)
  br label %look

look:
  %own = phi i64 [ %mine, %begin ], [ %own, %retry ], [ %own.more, %took ]
  %word = load atomic i64, ptr %team monotonic, align 8
  %front = and i64 %word, 65535
  %back.shifted = lshr i64 %word, 16
  %back.now = and i64 %back.shifted, 65535
  %left = icmp ult i64 %front, %back.now
  br i1 %left, label %claim.it, label %wait
claim.it:
  %portion = call i64 @portion(i64 %front, i64 %back.now, i64 %claims)
  %claimed = add i64 %word, %portion
  %pair = cmpxchg ptr %team, i64 %word, i64 %claimed acq_rel monotonic
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %took, label %retry
retry:
  br label %look
took:
  %past = add i64 %front, %portion
  call void @run_chunks(ptr %step, i64 %front, i64 %past)
  %own.more = add i64 %own, %portion
  br label %look

wait:
  %others = sub i64 %chunks, %own
  %others.short = trunc i64 %others to i32
  %needed = add i32 %total, %others.short
  store i32 %needed, ptr %total.p
  %waits = call i64 @ticks()
  br label %spin
spin:
  %round = phi i32 [ 0, %wait ], [ %round.next, %again ], [ 0, %slept ]
  %done = load atomic i32, ptr %done.p acquire, align 4
  %ended = icmp eq i32 %done, %needed
  br i1 %ended, label %judge, label %not.yet
not.yet:
  %long = icmp ugt i32 %round, <WAIT_SPINS>
  br i1 %long, label %sleep, label %again
again:
  call void @pause()
  %round.next = add i32 %round, 1
  br label %spin
sleep:
  %waiting.p = getelementptr i8, ptr %team, i64 <WAITING>
  %w0 = atomicrmw xchg ptr %waiting.p, i32 1 seq_cst
  %seen = load atomic i32, ptr %done.p seq_cst, align 4
  %now.ended = icmp eq i32 %seen, %needed
  br i1 %now.ended, label %slept, label %really
really:
  call void @sleep(ptr %done.p, i32 %seen)
  br label %slept
slept:
  %w1 = atomicrmw xchg ptr %waiting.p, i32 0 seq_cst
  br label %spin

judge:
  %over = call i64 @ticks()
  %waited = sub i64 %over, %waits
  %worked = sub i64 %waits, %started
  %of.others = mul i64 %worked, %others
  %saved = udiv i64 %of.others, %own
  %lost = sub i64 %waited, %saved
  %debt.p = getelementptr i8, ptr %team, i64 <DEBT>
  %debt = load i64, ptr %debt.p
  %debt.sum = add i64 %debt, %lost
  %debt.now = call i64 @llvm.smax.i64(i64 %debt.sum, i64 0)
  %limit = call i64 @stall_ticks()
  %late = icmp sgt i64 %debt.now, %limit
  %crowded.p = getelementptr i8, ptr %team, i64 <CROWDED>
  %crowded.word = load atomic i32, ptr %crowded.p monotonic, align 4
  %crowded = icmp ne i32 %crowded.word, 0
  %stalled = or i1 %late, %crowded
  %level.p = getelementptr i8, ptr %team, i64 <LEVEL>
  %level = load i64, ptr %level.p
  %good.p = getelementptr i8, ptr %team, i64 <GOOD>
  br i1 %stalled, label %stall, label %good
stall:
  store atomic i32 0, ptr %crowded.p monotonic, align 4
  store i64 0, ptr %debt.p
  %steps = shl i64 <STALL_STEPS>, %level
  %alone.p = getelementptr i8, ptr %team, i64 <ALONE>
  store i64 %steps, ptr %alone.p
  %higher = add i64 %level, 1
  %capped = call i64 @llvm.smin.i64(i64 %higher, i64 <STALL_LEVELS>)
  store i64 %capped, ptr %level.p
  store i64 0, ptr %good.p
  ret void
good:
  store i64 %debt.now, ptr %debt.p
  %calm = icmp eq i64 %level, 0
  br i1 %calm, label %exit, label %better
better:
  %count = load i64, ptr %good.p
  %count.next = add i64 %count, 1
  %enough = icmp uge i64 %count.next, <GOOD_STEPS>
  %good.new = select i1 %enough, i64 0, i64 %count.next
  store i64 %good.new, ptr %good.p
  %lower = sub i64 %level, 1
  %level.new = select i1 %enough, i64 %lower, i64 %level
  store i64 %level.new, ptr %level.p
  br label %exit
exit:
  ret void
}

define void @work(ptr %team) {
work.in:
  %step.p = getelementptr i8, ptr %team, i64 <STEP>
  %done.p = getelementptr i8, ptr %team, i64 <DONE>
  %waiting.p = getelementptr i8, ptr %team, i64 <WAITING>
  %sleepers.p = getelementptr i8, ptr %team, i64 <SLEEPERS>
  %stop.p = getelementptr i8, ptr %team, i64 <STOP>
  %sequence.p = getelementptr i8, ptr %team, i64 <SEQUENCE>
  %core.p = getelementptr i8, ptr %team, i64 <CORE>
  %claims.p = getelementptr i8, ptr %team, i64 <CLAIMS>
  %crowded.p = getelementptr i8, ptr %team, i64 <CROWDED>
  br label %look

look:
  %round = phi i32 [ 0, %work.in ], [ 0, %worked ], [ %round, %lost ], [ %round.next, %again ], [ 0, %slept ]
  %word = load atomic i64, ptr %team acquire, align 8
  %front = and i64 %word, 65535
  %back.shifted = lshr i64 %word, 16
  %back = and i64 %back.shifted, 65535
  %left = icmp ult i64 %front, %back
  br i1 %left, label %compare, label %idle
compare:
  %crowded = call i1 @same_core(ptr %core.p)
  br i1 %crowded, label %crowd, label %claim.it
crowd:
  store atomic i32 1, ptr %crowded.p monotonic, align 4
  br label %sleep
claim.it: ; a step may be gone already, the team is not
  %claims = load atomic i64, ptr %claims.p monotonic, align 8
  %portion = call i64 @portion(i64 %front, i64 %back, i64 %claims)
  %shifted = shl i64 %portion, 16
  %claimed = sub i64 %word, %shifted
  %pair = cmpxchg ptr %team, i64 %word, i64 %claimed acq_rel monotonic
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %took, label %lost
lost:
  br label %look
took: ; the run cannot end before these chunks have: the step is alive
  %step = load ptr, ptr %step.p
  %first = sub i64 %back, %portion
  call void @run_chunks(ptr %step, i64 %first, i64 %back)
  %finished = trunc i64 %portion to i32
  %before = atomicrmw add ptr %done.p, i32 %finished seq_cst
  %waiting = load atomic i32, ptr %waiting.p seq_cst, align 4
  %asleep = icmp ne i32 %waiting, 0
  br i1 %asleep, label %wake, label %worked
wake:
  call void @wake(ptr %done.p)
  br label %worked
worked:
  br label %look

idle:
  %stop = load atomic i32, ptr %stop.p acquire, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %exit, label %on
on:
  %long = icmp ugt i32 %round, <SPINS>
  br i1 %long, label %sleep, label %check
check:
  %some = and i32 %round, 31
  %now = icmp eq i32 %some, 31
  br i1 %now, label %where, label %again
where:
  %disturbs = call i1 @same_core(ptr %core.p)
  br i1 %disturbs, label %sleep, label %again
again:
  call void @pause()
  %round.next = add i32 %round, 1
  br label %look
sleep:
  %more = atomicrmw add ptr %sleepers.p, i32 1 seq_cst
  %seen = load atomic i64, ptr %team seq_cst, align 8
  %same = icmp eq i64 %seen, %word
  %stop.again = load atomic i32, ptr %stop.p seq_cst, align 4
  %goes.on = icmp eq i32 %stop.again, 0
  %may = and i1 %same, %goes.on
  br i1 %may, label %really, label %slept
really:
  %seen.shifted = lshr i64 %seen, 32
  %sequence = trunc i64 %seen.shifted to i32
  call void @sleep(ptr %sequence.p, i32 %sequence)
  br label %slept
slept:
  %less = atomicrmw sub ptr %sleepers.p, i32 1 seq_cst
  br label %look
exit:
  ret void
}

; Whether this thread is where the main thread was last seen.
define internal i1 @same_core(ptr %core.p) alwaysinline {
  %theirs = load atomic i32, ptr %core.p monotonic, align 4
  %ours = call i32 @core()
  %equal = icmp eq i32 %theirs, %ours
  %known = icmp sge i32 %ours, 0
  %same = and i1 %equal, %known
  ret i1 %same
}

define void @stop(ptr %team) {
  %busy.p = getelementptr i8, ptr %team, i64 <BUSY>
  %taken = cmpxchg ptr %busy.p, i32 0, i32 1 acquire monotonic
  %mine = extractvalue { i32, i1 } %taken, 1
  br i1 %mine, label %end, label %exit
end: ; nobody gets the team any more
  %stop.p = getelementptr i8, ptr %team, i64 <STOP>
  store atomic i32 1, ptr %stop.p seq_cst, align 4
  %next.p = getelementptr i8, ptr %team, i64 <NEXT>
  %previous = load i64, ptr %next.p
  %sequence = add i64 %previous, 1
  %claim = shl i64 %sequence, 32
  %old = atomicrmw xchg ptr %team, i64 %claim seq_cst
  %sequence.p = getelementptr i8, ptr %team, i64 <SEQUENCE>
  call void @wake(ptr %sequence.p)
  br label %exit
exit:
  ret void
}
"""

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
