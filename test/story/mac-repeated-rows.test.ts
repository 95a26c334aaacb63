// Rows of chat.db that change something, and that Messages or iCloud writes more than once: each change is
// one event. Through the whole relay, on three databases.

import { expect, test } from 'bun:test'

import type { MessageValues } from '../support/mac/chat-db-file.ts'
import { FRIEND, MacBox } from './mac-relay.ts'
import { SCHEMAS, startBox } from './mac-stage.ts'

const YEAR_MS = 365 * 86_400_000

for (const schema of SCHEMAS) {
  test(`${schema}: an edit is reported once, and not at all if it changes nothing`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news } = started
    const { file } = box.model
    const first = box.model.receive(FRIEND, 'see you')
    const second = box.model.receive(FRIEND, 'at eigth')
    await relay.clock.advance(2_000)

    file.set(first.rowId, { date_edited: file.date(relay.clock.now()) })
    await relay.clock.advance(2_000)
    file.set(second.rowId, { text: 'at eight', date_edited: file.date(relay.clock.now()) })
    box.model.receive(FRIEND, 'Edited to “at eight”')
    await relay.clock.advance(2_000)
    box.model.receive(FRIEND, 'Edited to “at nine”')
    box.model.receive('+15550002222', 'Edited to “at eight”')
    await relay.clock.advance(20_000)

    expect(news()).toEqual([
      'message.received: see you',
      'message.received: at eigth',
      'message.edited: at eight',
      'message.received: Edited to “at nine”',
      'message.received: Edited to “at eight”',
    ])
    const [line] = await relay.lines()
    expect(line.not_relayed).toMatchObject([{ kind: 'edit_copy', count: 1 }])
  })

  test(`${schema}: the row of an older device that comes before the edit is no message either`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news } = started
    const { file } = box.model
    const { rowId } = box.model.receive(FRIEND, 'at eigth')
    await relay.clock.advance(2_000)

    box.model.receive(FRIEND, 'Edited to “at eight”')
    await relay.clock.advance(3_000)
    file.set(rowId, { text: 'at eight', date_edited: file.date(relay.clock.now()) })
    await relay.clock.advance(20_000)

    expect(news()).toEqual(['message.received: at eigth', 'message.edited: at eight'])
  })

  test(`${schema}: a change of a group is one event, however many rows say it`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news, posted } = started
    const { file } = box.model
    const [old, fresh] = ['+15550003333', '+15550004444'].map((id) => file.addHandle(id))
    const chat = file.addChat({
      identifier: 'chat831',
      style: 43,
      members: [FRIEND, '+15550004444'],
    })
    const change = (from: string, values: MessageValues) =>
      file.receive({ from, text: '', at: relay.clock.now(), chat, values })
    const rename = { item_type: 2, group_title: 'Family' }

    for (const _ of [1, 2, 3]) change(FRIEND, rename)
    await relay.clock.advance(2_000)
    change(FRIEND, rename)
    await relay.clock.advance(5_000)
    for (const _ of [1, 2, 3]) {
      change('+15550004444', { item_type: 1, group_action_type: 1, other_handle: old ?? 0 })
      await relay.clock.advance(100)
      change('+15550004444', { item_type: 1, group_action_type: 0, other_handle: fresh ?? 0 })
    }
    await relay.clock.advance(5_000)
    for (const group_action_type of [1, 0]) {
      change(FRIEND, { item_type: 1, group_action_type, other_handle: old ?? 0 })
      await relay.clock.advance(8_000)
    }

    expect(news()).toEqual([
      'group.updated: renamed',
      'group.updated: renamed',
      'group.updated: participant_added',
      'group.updated: participant_removed',
      'group.updated: participant_added',
    ])
    expect(posted()[2]).toMatchObject({ target: '+15550004444', replaced: '+15550003333' })
  })

  test(`${schema}: a reaction that iCloud writes again is reported once`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, posted } = started
    const { guid } = box.model.receive(FRIEND, 'dinner?')
    await relay.clock.advance(2_000)

    for (const associated_message_type of [2_001, 2_001, 3_001, 3_001, 2_001]) {
      const about = { associated_message_type, associated_message_guid: `p:0/${guid}` }
      for (const _ of [1, 2]) box.model.receive(FRIEND, 'Liked “dinner?”', about)
      if (associated_message_type === 3_001) await relay.clock.advance(2_000)
    }
    await relay.clock.advance(2_000)

    const told = posted().map(({ event, reaction }) => [event, reaction?.action])
    const [added, removed] = ['added', 'removed']
    expect(told).toEqual([
      ['message.received', undefined],
      ...[added, removed, added].map((action) => ['message.reaction', action]),
    ])
  })

  test(`${schema}: old changes of a group change nothing of it now`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news } = started
    const { file } = box.model
    const chat = file.addChat({ identifier: 'chat831', style: 43, name: 'Now', members: [FRIEND] })
    const at = relay.clock.now()
    file.receive({ from: FRIEND, text: 'dinner?', at, chat })
    await relay.clock.advance(2_000)

    const old = { date: file.date(at - YEAR_MS) }
    file.receive({
      from: FRIEND,
      text: '',
      at,
      chat,
      values: { ...old, item_type: 2, group_title: 'Then' },
    })
    const left = { item_type: 3, group_action_type: 0, is_from_me: 1, is_sent: 1 }
    file.receive({ from: FRIEND, text: '', at, chat, values: { ...old, ...left } })
    await relay.clock.advance(5_000)

    expect(news()).toEqual(['group_message.received: dinner?'])
    const { data } = await relay.get('/api/v1/conversations?type=group')
    expect(data[0]).toMatchObject({ name: 'Now', state: 'active' })
  })
}
