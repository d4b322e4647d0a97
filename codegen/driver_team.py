"""How a team of threads runs one step of several chunks: the part of :mod:`.driver` that they share it in.

Work is claimed. For a step of several chunks the main thread publishes one 64-bit word, ``sequence:32 |
back:16 | front:16``. It takes chunks from the front, the others take them from the back, each with one
compare-and-swap, so from step to step a core mostly reads what it has written. Who claims takes one part in
``claims`` of the chunks that are left, at least one: large pieces at first, and small ones at the end, where
threads wait for each other. The step has ended when the chunks that others took are done. Nobody waits for
a thread that has taken nothing; one that lost its core delays the chunks it holds. A thread that comes late
sees another sequence number, and its swap fails.

Where another process wants a core all the time, help costs more than it is worth. So the main thread keeps
account: it owes what it has waited, less what others did for it meanwhile. Others' cores are interrupted for
some ten microseconds all the time, which is soon paid back; one that is taken away is missed for
milliseconds. If the debt is too high, or a thread finds itself on the main thread's core, the next steps
of several chunks are run alone: 256, and twice as many each time it happens soon again.

Who waits spins for some microseconds, then sleeps (on a futex, where there are any). Others are woken only
if somebody sleeps: both sides write first and read the other's word after that, in one order for all.
"""

from __future__ import annotations

TEAM_BYTES = 512
"""Zeros at first; see the offsets below. Starts on a 64-byte boundary."""
MAX_CHUNKS = 0x7FFF

# Offsets of the team's words, in bytes. Words that different threads write are on different cache lines.
# The word of claims is the first.
SEQUENCE, STEP, CORE, CLAIMS = 4, 8, 16, 24
DONE, WAITING = 128, 132
SLEEPERS, STOP, CROWDED = 256, 260, 264
BUSY, WORKERS, NEXT = 384, 388, 392
ALONE, LEVEL, GOOD, TOTAL, DEBT = 400, 408, 416, 424, 432

SPINS = 2000
"""Rounds of an idle thread before it sleeps: at a pause of 40 to 140 cycles, 25 to 100 us."""
WAIT_SPINS = 1000
STALL_STEPS, STALL_LEVELS, GOOD_STEPS = 256, 5, 512
"""The last: after how many good steps a stall is forgotten."""

TEAM_IR = """
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
"""Numbers in angle brackets are those above."""
