import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

import { systemClock } from '../../src/system/clock.ts'
import {
  ownIds,
  processRunner,
  startProcess,
  startReadProcess,
  type ProcessEnd,
  type ProcessOrder,
} from '../../src/system/process.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const LIMITS = { timeoutMs: 35_000, killAfterMs: 38_000 }
const NEVER = new AbortController().signal

const run = processRunner(systemClock)

test('a child may read its input, and its exit code and both outputs come back', async () => {
  const order = { ...shell('cat; echo bad >&2; exit 3'), input: 'Grüße\n' }

  const end = await run(order, NEVER)
  const unread = await run({ ...shell('exit 0'), input: 'x'.repeat(1_000_000) }, NEVER)

  expect(unread).toEqual(exited([]))
  expect(end).toEqual({ end: 'exited', exitCode: 3, stdout: 'Grüße\n', stderr: 'bad\n' })
})

test('arguments reach a child as they are, without a shell between', async () => {
  const args = ['%s|', '$(id)', '`id`', '; exit 1', '*', '-n', '', 'a b', "it's", '"', '\\', '\n']

  const end = await run({ path: '/usr/bin/printf', args, ...LIMITS }, NEVER)

  expect(end).toEqual(exited(args.slice(1).map((arg) => `${arg}|`)))
})

test('a child knows nothing of our environment but its folder and its user', async () => {
  process.env['HOOKLINE_ADMIN_KEY'] = 'secret'

  const end = await run({ path: '/usr/bin/env', args: [], ...LIMITS }, NEVER)
  delete process.env['HOOKLINE_ADMIN_KEY']

  const known = ['PATH', 'HOME', 'USER', 'TMPDIR', 'XDG_RUNTIME_DIR']
  const ours = known.flatMap((name) => (process.env[name] === undefined ? [] : [name]))
  const names = outputOf(end)
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0] ?? '')
  expect(names.sort()).toEqual(['LANG', ...ours].sort())
  expect(outputOf(end)).toContain('LANG=en_US.UTF-8\n')
})

test('of a child that prints a megabyte on both outputs, the first bytes are kept', async () => {
  const flood = 'head -c 1000000 /dev/zero | tr "\\0" x; head -c 1000000 /dev/zero | tr "\\0" y >&2'

  const end = await run({ ...shell(flood), outputBytesMax: 1_000 }, NEVER)
  const unbounded = await run(shell(flood), NEVER)

  const kept = { stdout: 'x'.repeat(1_000), stderr: 'y'.repeat(1_000) }
  expect(end).toEqual({ end: 'exited', exitCode: 0, ...kept })
  expect(outputOf(unbounded).length).toBe(65_536)
})

test('a child that hangs is ended at its time, and killed three seconds later if it ignores that', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const willing = watch(processRunner(clock)(shell('exec sleep 60'), NEVER))
  const unwilling = watch(processRunner(clock)(stubborn(folder), NEVER))
  const areSettled = () => [willing.isSettled(), unwilling.isSettled()]
  await appears(folder.file('ready'))

  await clock.advance(34_999)
  await anotherChild()
  const early = areSettled()
  await clock.advance(1)
  const first = await willing.promise
  await clock.advance(2_999)
  await anotherChild()
  const between = areSettled()
  await clock.advance(1)
  const second = await unwilling.promise

  const killed = { end: 'killed', why: 'timeout', stderr: '' } as const
  expect([early, between]).toEqual([
    [false, false],
    [true, false],
  ])
  expect(first).toEqual({ ...killed, stdout: '' })
  expect(second).toEqual({ ...killed, stdout: 'begun\n' })
})

test('what a child has started is ended with it, so that its pipes close at once', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const [ready, other] = [folder.file('ready'), folder.file('other')]
  const script = (mark: string) => `sleep 60 & : > ${mark}; wait`
  const ending = processRunner(clock)(shell(script(ready)), NEVER)
  const living = startReadProcess({
    path: '/bin/sh',
    args: ['-c', script(other)],
    environment: {},
    onOutput() {},
  })
  await Promise.all([ready, other].map(appears))

  await clock.advance(35_000)
  living.kill('SIGTERM')

  // The clock stands: a pipe that stays open would be waited for without end.
  expect(await ending).toEqual({ end: 'killed', why: 'timeout', stdout: '', stderr: '' })
  await living.outputEnded
  expect(await living.ended).toBeNull()
})

test('an abort ends a child, with force after three seconds', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const [gentle, force] = [new AbortController(), new AbortController()]
  const willing = processRunner(clock)(shell('exec sleep 60'), gentle.signal)
  const unwilling = watch(processRunner(clock)(stubborn(folder), force.signal))
  await appears(folder.file('ready'))

  gentle.abort()
  force.abort()
  const first = await willing
  await clock.advance(2_999)
  await anotherChild()
  const isEarly = unwilling.isSettled()
  await clock.advance(1)

  const second = await unwilling.promise
  expect(first).toEqual({ end: 'killed', why: 'aborted', stdout: '', stderr: '' })
  expect(isEarly).toBe(false)
  expect(second).toEqual({ end: 'killed', why: 'aborted', stdout: 'begun\n', stderr: '' })
})

test('a child that ends well only because it was asked to end was killed all the same', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const ready = folder.file('ready')
  const script = `trap 'echo so far; exit 0' TERM; : > ${ready}; while :; do :; done`
  const ending = processRunner(clock)(shell(script), NEVER)
  await appears(ready)

  await clock.advance(35_000)

  expect(await ending).toEqual({ end: 'killed', why: 'timeout', stdout: 'so far\n', stderr: '' })
})

test('of two reasons to end a child the first is reported', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const leaving = new AbortController()
  const order = { ...stubborn(folder), killAfterMs: 60_000 }
  const ending = processRunner(clock)(order, leaving.signal)
  await appears(folder.file('ready'))

  await clock.advance(35_000)
  leaving.abort()
  await clock.advance(3_000)

  expect(await ending).toEqual({ end: 'killed', why: 'timeout', stdout: 'begun\n', stderr: '' })
})

test('nothing is started for one who has left already', async () => {
  using folder = new ScratchFolder()

  const end = await run(shell(`: > ${folder.file('ran')}`), AbortSignal.abort())

  expect(end).toEqual({ end: 'not_started', why: 'aborted' })
  expect(existsSync(folder.file('ran'))).toBe(false)
})

test('what a grandchild writes just after the end of its parent is still read', async () => {
  const late = '(while kill -0 $$ 2>/dev/null; do :; done; echo late) & exit 0'

  const end = await processRunner(new TestClock())(shell(late), NEVER)

  expect(end).toEqual(exited(['late\n']))
})

test('a grandchild that keeps the pipes open is waited for one second', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const order = shell(`sleep 60 & echo $! > ${folder.file('pid')}; echo told`)
  const ending = watch(processRunner(clock)({ ...order, timeoutMs: 1e9, killAfterMs: 1e9 }, NEVER))

  while (!ending.isSettled()) await clock.advance(100)

  process.kill(Number(readFileSync(folder.file('pid'), 'utf8')), 'SIGKILL')
  expect(await ending.promise).toEqual(exited(['told\n']))
})

test('a child that another process ends is reported as killed', async () => {
  const end = await run(shell('echo begun; kill -KILL $$'), NEVER)

  expect(end).toEqual({ end: 'killed', why: 'signal', stdout: 'begun\n', stderr: '' })
})

test('what cannot be started is reported by a code that holds nothing of its arguments', async () => {
  using folder = new ScratchFolder()
  writeFileSync(folder.file('plain'), '', { mode: 0o600 })
  const orders: readonly (readonly [path: string, arg: string])[] = [
    [folder.file('absent'), ''],
    [folder.file('plain'), ''],
    ['/bin/echo', 'private\0text'],
    ['/bin/echo', 'x'.repeat(8_000_000)],
  ]

  const ends = await Promise.all(
    orders.map(([path, arg]) => run({ path, args: [arg], ...LIMITS }, NEVER)),
  )

  const codes = ['ENOENT', 'EACCES', 'ERR_INVALID_ARG_VALUE', 'E2BIG']
  expect(ends).toEqual(codes.map((why) => ({ end: 'not_started', why })))
})

test('a child that lives on says how it ended', async () => {
  const left = startProcess({ path: '/bin/sh', args: ['-c', 'exit 4'] })
  const killed = startProcess({ path: '/bin/sleep', args: ['60'] })

  killed.kill('SIGTERM')

  expect(await Promise.all([left.ended, killed.ended])).toEqual([4, null])
  expect(killed.pid).toBeGreaterThan(1)
  expect(() => startProcess({ path: '/nowhere/tool', args: [] })).toThrow()
})

test('a child is of a group of its own, which a terminal does not interrupt with us, and knows us', async () => {
  const end = await run(
    shell('test "$(ps -o pgid= -p $$)" -eq $$ && echo own; echo $PPID; id -u'),
    NEVER,
  )

  const { pid, uid } = ownIds()
  expect(end).toEqual(exited([`own\n${pid}\n${uid}\n`]))
})

test('both outputs of a child that lives on are passed on as they come, and it knows nothing else of us', async () => {
  process.env['HOOKLINE_ADMIN_KEY'] = 'secret'
  const said = { stdout: '', stderr: '' }

  const child = startReadProcess({
    path: '/bin/sh',
    args: ['-c', 'env; echo bad >&2; exit 3'],
    environment: { WORD: 'Grüße' },
    onOutput: (chunk, from) => void (said[from] += new TextDecoder().decode(chunk)),
  })
  const exitCode = await child.ended
  await child.outputEnded
  delete process.env['HOOKLINE_ADMIN_KEY']

  expect([exitCode, said.stderr]).toEqual([3, 'bad\n'])
  expect(said.stdout).toContain('WORD=Grüße\n')
  expect(said.stdout).not.toContain('HOOKLINE')
})

function shell(script: string): ProcessOrder {
  return { path: '/bin/sh', args: ['-c', script], ...LIMITS }
}

/** A child that SIGTERM does not end, once its mark `ready` is there. */
function stubborn(folder: ScratchFolder): ProcessOrder {
  return shell(`trap '' TERM; echo begun; : > ${folder.file('ready')}; exec sleep 60`)
}

function exited(parts: readonly string[]): ProcessEnd {
  return { end: 'exited', exitCode: 0, stdout: parts.join(''), stderr: '' }
}

function outputOf(end: ProcessEnd): string {
  return end.end === 'not_started' ? '' : end.stdout
}

function watch<T>(promise: Promise<T>): { readonly promise: Promise<T>; isSettled(): boolean } {
  let isSettled = false
  const watched = promise.finally(() => {
    isSettled = true
  })
  return { promise: watched, isSettled: () => isSettled }
}

/** Long enough for a signal that was sent too early to have ended its child. */
async function anotherChild(): Promise<void> {
  await run(shell('exit 0'), NEVER)
}

/** Resolves once a child has made `path`. */
function appears(path: string): Promise<true> {
  return eventually(path, () => (existsSync(path) ? true : null))
}
