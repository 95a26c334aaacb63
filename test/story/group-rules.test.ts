// The rules of keys for groups: a rule holds for a group if it holds for each member.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { HOUR_MS, makeKey } from '../support/limited-keys.ts'
import { ABLE } from '../support/rich-relay.ts'
import { guidOf } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, AT, BEN, FAMILY, startRich } from './rich-relay.ts'

type World = Awaited<ReturnType<typeof startRich>>

const YESTERDAY = timestamp(AT - 25 * HOUR_MS)
const BOTH = [String(ANNA), String(BEN)]

/** Anna writes in each group; what is known of Ben differs. */
const GROUPS: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  'Ben is a stranger who never wrote': (world) => world.receive(guidOf(1), { group: FAMILY }),
  'Ben wrote in it today': async (world) => {
    await world.receive(guidOf(1), { group: FAMILY })
    await world.receive(guidOf(2), { group: FAMILY, handle: BEN })
  },
  'Ben wrote in it yesterday': async (world) => {
    await world.receive(guidOf(1), { group: FAMILY, handle: BEN, at: YESTERDAY })
    await world.receive(guidOf(2), { group: FAMILY })
  },
  'Ben wrote to the line today': async (world) => {
    await world.receive(guidOf(1), { group: FAMILY })
    await world.receive(guidOf(2), { handle: BEN })
  },
  'its members are not told': (world) =>
    world.receive(guidOf(1), { group: { ...FAMILY, participants: [] } }),
}

const NO = 'recipient_not_allowed'
/** What holds messages up comes last. */
const RULES: readonly (readonly [rules: object, answers: readonly (200 | typeof NO | 'held')[]])[] =
  [
    [{ recipients: 'anyone', sends_per_day: 9 }, [200, 200, 200, 200, 200]],
    [{ recipients: 'known' }, [NO, 200, 200, 200, NO]],
    [{ recipients: 'replied_within_24h' }, [NO, 200, NO, 200, NO]],
    [{ recipients: 'list', allow: [ANNA] }, [NO, NO, NO, NO, NO]],
    [{ recipients: 'list', allow: BOTH }, [200, 200, 200, 200, NO]],
    [{ recipients: 'known', allow: [BEN] }, [200, 200, 200, 200, NO]],
    [{ recipients: 'replied_within_24h', allow: [BEN] }, [200, 200, 200, 200, NO]],
    [{ approval: 'new_contacts' }, ['held', 200, 200, 200, 'held']],
    [{ approval: 'always' }, ['held', 'held', 'held', 'held', 'held']],
  ]

for (const [place, [group, gather]] of Object.entries(GROUPS).entries()) {
  test(`a group in which ${group}: each rule allows it, holds the message or refuses it`, async () => {
    await using world = await startRich()
    world.device.capabilities = ABLE
    await world.device.goOnline()
    await gather(world)
    const [{ id }] = (await world.relay.get('/api/v1/conversations?type=group')).data
    const answers = []
    for (const [rules] of RULES) {
      const key = await makeKey(world.relay, { rules })
      const body = { text: 'yes' }
      const answer = await key.call('POST', `/conversations/${id}/messages`, body)
      const isHeld = answer.body.approval?.state === 'pending'
      answers.push([rules, isHeld ? 'held' : (answer.body.error?.code ?? answer.status)])
    }

    expect(answers).toEqual(RULES.map(([rules, wanted]) => [rules, wanted[place]]))
  })
}

test('a refusal says of how many members the rule holds, and what to do', async () => {
  await using world = await startRich()
  world.device.capabilities = ABLE
  await world.device.goOnline()
  await world.receive(guidOf(1), { group: FAMILY })
  const [{ id }] = (await world.relay.get('/api/v1/conversations?type=group')).data
  const key = await makeKey(world.relay, { rules: { recipients: 'known' } })
  const ofGroup = await makeKey(world.relay, { conversation_ids: [id] })
  const send = (by: typeof key): Promise<Json> =>
    by.call('POST', `/conversations/${id}/messages`, { text: 'yes' })

  const { message, details } = (await send(key)).body.error

  expect(message).toBe(
    'The rules of this key allow only these recipients: known. In a group, each member must be one; 1 of 2 are. ' +
      'Use a key with the others in rules.allow, or one of this group by conversation_ids.',
  )
  expect(details).toEqual({ recipients: 'known', members: 2, allowed_members: 1 })
  expect((await send(ofGroup)).status).toBe(200)
})
