// What the Messages stand-in answers: the script's stages and numbers, and the processes of a Mac.

import { expect, test } from 'bun:test'

import type { Target } from '../../../../src/lines/kinds/mac/script-runner.ts'
import { MESSAGES_SCRIPT } from '../../../../src/lines/kinds/mac/script.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { chatWithFriend, makeModelRig, rowsOf } from '../../../support/mac/model-rig.ts'
import { refused } from '../../../support/mac/script-behaviours.ts'
import { FRIEND, OWN_NUMBER } from '../../../support/mac/trace-steps.ts'

const TO_FRIEND: Target = { by: 'participant', handle: FRIEND }
const A_MINUTE_MS = 60_000

test('a check finds the recipient and sends nothing', async () => {
  using mac = makeModelRig()
  const { guid } = chatWithFriend(mac.model)

  const answers = [
    await mac.ask(mac.script.check(TO_FRIEND, NEVER)),
    await mac.ask(mac.script.check({ by: 'chat', guid }, NEVER)),
    await mac.ask(mac.script.check({ by: 'chat', guid: 'any;-;nobody' }, NEVER)),
  ]
  await mac.clock.advance(A_MINUTE_MS)

  const notFound = { answer: 'refused', stage: 'resolve', number: -1728 } as const
  expect(answers).toEqual([{ answer: 'done' }, { answer: 'done' }, notFound])
  expect(rowsOf(mac.model)).toEqual([])
})

test('a send by chat goes to whom the chat is with', async () => {
  using mac = makeModelRig()
  const { guid } = chatWithFriend(mac.model)

  await mac.ask(mac.script.send({ by: 'chat', guid }, 'hello'))
  await mac.clock.advance(A_MINUTE_MS)

  const row = `hello -> ${FRIEND} in ${FRIEND}, iMessage, sent delivered read`
  expect(rowsOf(mac.model)).toEqual([row])
  expect(mac.model.calls).toEqual([{ mode: 'send', route: 'chat', key: guid }])
  expect(mac.model.letters).toEqual([{ from: OWN_NUMBER, to: FRIEND, text: 'hello' }])
})

test('a chat that is not found is found as a participant, with the same behaviour', async () => {
  using mac = makeModelRig()
  const { guid } = chatWithFriend(mac.model)
  mac.model.nextSend('resolve_not_found_chat', 'no_row')

  const byChat = await mac.ask(mac.script.send({ by: 'chat', guid }, 'one'))
  const byParticipant = await mac.ask(mac.script.send(TO_FRIEND, 'one'))
  await mac.ask(mac.script.send(TO_FRIEND, 'two'))
  await mac.clock.advance(A_MINUTE_MS)

  expect(byChat).toEqual({ answer: 'refused', stage: 'resolve', number: -1728 })
  expect(byParticipant).toEqual({ answer: 'done' })
  expect([mac.model.carried('one'), mac.model.carried('two')]).toEqual([1, 0])
})

test('a recipient whom neither way finds gets nothing, and the next send goes well', async () => {
  using mac = makeModelRig()
  const { guid } = chatWithFriend(mac.model)
  mac.model.nextSend('resolve_not_found_all')

  const answers = [
    await mac.ask(mac.script.check({ by: 'chat', guid }, NEVER)),
    await mac.ask(mac.script.check(TO_FRIEND, NEVER)),
    await mac.ask(mac.script.check(TO_FRIEND, NEVER)),
  ]

  const notFound = { answer: 'refused', stage: 'resolve', number: -1728 } as const
  expect(answers).toEqual([notFound, notFound, { answer: 'done' }])
})

const REFUSALS = [
  ['account', -1743],
  ['resolve', -600],
  ['send', -10_000],
] as const

test.each(REFUSALS)('a refusal at %s is told once, and nothing leaves', async (stage, number) => {
  using mac = makeModelRig()
  mac.model.nextSend(refused(stage, number))

  const first = await mac.ask(mac.script.send(TO_FRIEND, 'hello'))
  const second = await mac.ask(mac.script.send(TO_FRIEND, 'again'))
  await mac.clock.advance(A_MINUTE_MS)

  expect([first, second]).toEqual([{ answer: 'refused', stage, number }, { answer: 'done' }])
  expect([mac.model.carried('hello'), mac.model.carried('again')]).toEqual([0, 1])
})

test('a behaviour of a handle holds for every send to it', async () => {
  using mac = makeModelRig()
  mac.model.behave(FRIEND, 'failed22_at_once')

  await mac.ask(mac.script.send(TO_FRIEND, 'one'))
  await mac.ask(mac.script.send(TO_FRIEND, 'two'))
  await mac.ask(mac.script.send({ by: 'participant', handle: '+15550003333' }, 'three'))
  await mac.clock.advance(A_MINUTE_MS)

  expect(mac.model.letters.map(({ text }) => text)).toEqual(['three'])
})

test('by participant, neither its own number nor one without a plus sign is reached', async () => {
  using mac = makeModelRig()

  await mac.ask(mac.script.send({ by: 'participant', handle: OWN_NUMBER }, 'to myself'))
  await mac.ask(mac.script.send({ by: 'participant', handle: '15550001111' }, 'no plus'))
  await mac.clock.advance(A_MINUTE_MS)

  expect(rowsOf(mac.model)).toEqual([
    `to myself -> ${OWN_NUMBER} in ${OWN_NUMBER}, iMessage, error 22`,
    'no plus -> 15550001111 in 15550001111, iMessage, error 22',
  ])
})

test('the account is as it is set, and what keeps scripts from Messages has its number', async () => {
  using mac = makeModelRig()
  const account = () => mac.ask(mac.script.account(NEVER))

  const found = [await account()]
  mac.model.account = { exists: true, isEnabled: false, isConnected: false }
  found.push(await account())
  mac.model.account = { exists: false, isEnabled: true, isConnected: true }
  found.push(await account())
  mac.model.automation = 'denied'
  found.push(await account())
  mac.model.automation = 'granted'
  mac.model.quit()
  found.push(await account())
  mac.model.launch()
  mac.model.isAnswering = false
  const late = mac.script.account(NEVER)
  await mac.clock.advance(25_000)
  found.push(await late)

  const refusal = (number: number) => ({ answer: 'refused', stage: 'account', number }) as const
  expect(found).toEqual([
    { answer: 'account', state: { isEnabled: true, isConnected: true } },
    { answer: 'account', state: { isEnabled: false, isConnected: false } },
    refusal(-1719),
    refusal(-1743),
    refusal(-600),
    refusal(-1712),
  ])
})

test('any other script, or one that is called otherwise, does not compile', async () => {
  using mac = makeModelRig()
  const order = JSON.stringify({ mode: 'account', route: '', key: '', text: '' })

  const ends = [
    await mac.model.handleScript(['-l', 'AppleScript', '-e', `${MESSAGES_SCRIPT} `], order),
    await mac.model.handleScript(['-e', MESSAGES_SCRIPT], order),
    await mac.model.handleScript(['-', 'account', '', '', ''], MESSAGES_SCRIPT),
  ]

  expect(ends.map((end) => (end === 'hang' ? null : end.exitCode))).toEqual([1, 1, 1])
  expect(JSON.stringify(ends)).toContain('(-2741)')
})

test('an abort ends a check at once', async () => {
  using mac = makeModelRig()
  const controller = new AbortController()
  const answer = mac.script.check(TO_FRIEND, controller.signal)

  controller.abort()

  expect(await answer).toEqual({ answer: 'silent', why: 'killed: aborted' })
})

test('Messages is found, ended and started as a process; just started, it finds no chat', async () => {
  using mac = makeModelRig()
  const { guid } = chatWithFriend(mac.model)
  const run = async (path: string, ...args: readonly string[]) => {
    const end = await mac.run({ path, args, timeoutMs: 1, killAfterMs: 2 }, NEVER)
    return end.end === 'exited' ? `${end.exitCode} ${end.stdout}`.trim() : end.end
  }
  const first = (await run('/usr/bin/pgrep')).split(' ')[1] ?? ''

  const ends = [
    await run('/bin/kill', '-TERM', '1'),
    await run('/bin/kill', '-TERM', first),
    await run('/usr/bin/pgrep'),
    await run('/usr/bin/open', '-gj', '-a', 'Messages'),
    await run('/usr/bin/nothing'),
  ]
  const second = await run('/usr/bin/pgrep')
  const cold = await mac.ask(mac.script.check({ by: 'chat', guid }, NEVER))
  await mac.clock.advance(5_000)
  const warm = await mac.ask(mac.script.check({ by: 'chat', guid }, NEVER))

  expect(ends).toEqual(['1', '0', '1', '0', 'not_started'])
  expect(second).toBe(`0 ${Number(first) + 1}`)
  expect(cold).toEqual({ answer: 'refused', stage: 'resolve', number: -1728 })
  expect(warm).toEqual({ answer: 'done' })
})

test('a Mac is awake as long as caffeinate runs', async () => {
  using mac = makeModelRig()

  const child = mac.start({ path: '/usr/bin/caffeinate', args: [] })
  const during = mac.isKeptAwake()
  child.kill('SIGTERM')

  expect([during, mac.isKeptAwake(), await child.ended]).toEqual([true, false, null])
})
