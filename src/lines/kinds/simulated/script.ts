// Script of the simulated network: an API call makes people write, react, edit and unsend, and groups change.

import { Type, type TProperties } from 'typebox'

import { enumOf, objectSchema, type Shape } from '../../../api/schema.ts'
import { GROUP_CHANGES } from '../../../domain/conversation.ts'
import { invalidRequest } from '../../../domain/errors.ts'
import { deviceHandle, parseRecipient, type Handle } from '../../../domain/handle.ts'
import { timestamp } from '../../../domain/ids.ts'
import { REACTION_TYPES } from '../../../domain/message-extras.ts'
import { TEXT_LENGTH_MAX } from '../../../domain/message.ts'
import type { DeviceGroup } from '../../driver.ts'
import type { LineAction } from '../../line-kind.ts'
import { eventAbout, type ChangeDetails, type MessageDetails } from './events.ts'
import type { SimulatedNetwork } from './network.ts'
import { AFTER_SECONDS_MAX, File, FILES_MAX, written } from './writing.ts'

const PARTICIPANTS_MAX = 100

const Person = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'A number or an email address.',
})
const AfterSeconds = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: AFTER_SECONDS_MAX,
    description: 'How much later it happens.',
  }),
)
const TargetGuid = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The message's `platform_guid`; one that the line does not have is waited for.",
})
const Text = Type.String({ maxLength: TEXT_LENGTH_MAX })

export const Group = objectSchema('SimulatedGroup', {
  identifier: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  participants: Type.Array(Person, {
    minItems: 1,
    maxItems: PARTICIPANTS_MAX,
    description: 'Without the line itself.',
  }),
})

const EXAMPLE = { from: '+12025550147', target_guid: '019A3B54-1C2D-7E3F-8A4B-5C6D7E8F9A0B' }
const EXAMPLE_GROUP = { identifier: 'chat100', name: 'Family', participants: [EXAMPLE.from] }

const BODIES = {
  message: eventSchema(
    'message',
    {
      from: Person,
      text: Type.Optional(Text),
      attachments: Type.Optional(Type.Array(File, { maxItems: FILES_MAX })),
      group: Type.Optional(Group),
      reply_to_guid: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
      service: Type.Optional(enumOf('SimulatedService', ['iMessage', 'SMS'])),
    },
    { from: EXAMPLE.from, text: 'This is it.', attachments: [{ kind: 'heic' }] },
  ),
  reaction: eventSchema(
    'reaction',
    {
      from: Person,
      target_guid: TargetGuid,
      reaction: enumOf('SimulatedReaction', REACTION_TYPES),
      emoji: Type.Optional(Type.String({ minLength: 1, maxLength: 16 })),
      action: Type.Optional(enumOf('SimulatedReactionAction', ['added', 'removed'])),
      part: Type.Optional(Type.Integer({ minimum: 0, maximum: FILES_MAX })),
    },
    { ...EXAMPLE, reaction: 'love' },
  ),
  edit: eventSchema(
    'edit',
    { target_guid: TargetGuid, text: Text },
    { target_guid: EXAMPLE.target_guid, text: 'See you at 8.' },
  ),
  unsend: eventSchema('unsend', { target_guid: TargetGuid }, { target_guid: EXAMPLE.target_guid }),
  group_change: eventSchema(
    'group_change',
    {
      group: Group,
      change: enumOf('SimulatedGroupChange', GROUP_CHANGES),
      actor: Type.Optional(Person),
      target: Type.Optional(Person),
    },
    { group: EXAMPLE_GROUP, change: 'renamed', actor: EXAMPLE.from },
  ),
} as const

type Bodies = { readonly [Name in keyof typeof BODIES]: Shape<(typeof BODIES)[Name]> }
type ScriptEvent = Bodies[keyof Bodies]

const Happened = objectSchema('SimulatedEvent', {
  guid: Type.String({ description: 'Of the message or the change, for events about it.' }),
})

/** The body of an event by its `type`, with a working example. */
function eventSchema<Name extends string, Fields extends TProperties>(
  type: Name,
  fields: Fields,
  example: object,
) {
  return Type.Object(
    { type: Type.Literal(type), ...fields, after_seconds: AfterSeconds },
    {
      title: `Simulated_${type}_event`.replaceAll(/_(.)/g, (_, letter: string) =>
        letter.toUpperCase(),
      ),
      additionalProperties: false,
      examples: [{ type, ...example }],
    },
  )
}

export function scriptAction(network: () => SimulatedNetwork): LineAction {
  return {
    name: 'events',
    id: 'simulateEvent',
    summary: 'Let something happen on a simulated line',
    description:
      'A person writes, reacts, edits or unsends, or a group changes: for trying what your program makes ' +
      'of it. Lines of other kinds answer 422 `not_supported`.',
    bodies: BODIES,
    answer: Happened,
    run: async (line, body) => {
      const event = body as ScriptEvent // Checked against `bodies`.
      const at = network().now() + (event.after_seconds ?? 0) * 1_000
      return { guid: play({ network: network(), line, at }, event) }
    },
  }
}

type Stage = {
  readonly network: SimulatedNetwork
  readonly line: string
  readonly at: number
}

/** Returns the guid of the message or the change. */
export function play(stage: Stage, event: ScriptEvent): string {
  switch (event.type) {
    case 'message':
      return receive(stage, event)
    case 'reaction':
      return changeMessage(stage, reactionOf(event))
    case 'edit':
      return changeMessage(stage, editOf(stage, event))
    case 'unsend':
      return changeMessage(stage, { kind: 'unsent', targetGuid: event.target_guid })
    case 'group_change':
      return changeGroup(stage, event)
  }
}

function receive(stage: Stage, event: Bodies['message']): string {
  const { network, line, at } = stage
  const { text = '', attachments = [], reply_to_guid: target } = event
  if (text === '' && attachments.length === 0) {
    throw invalidRequest({ path: 'text', message: 'is required without attachments' })
  }
  const guid = network.newGuid()
  const group = event.group === undefined ? undefined : groupIn(event.group)
  const service = event.service === 'SMS' ? event.service : null
  const sender = { line, from: personIn('from', event.from), group, service, at }
  if (group !== undefined) network.saveGroup(line, group)
  network.post(written(network, sender, { guid, text, attachments, target }))
  return guid
}

function reactionOf(event: Bodies['reaction']) {
  const { target_guid: targetGuid, reaction: type, action = 'added', part = 0 } = event
  const handle = personIn('from', event.from)
  const emoji = event.emoji ?? null
  if ((type === 'emoji') !== (emoji !== null)) {
    const message = 'belongs to the reaction emoji, and to no other'
    throw invalidRequest({ path: 'emoji', message })
  }
  const kind = 'reaction' as const
  return { kind, targetGuid, action, type, emoji, part, handle, isFromMe: false }
}

/** An edit, with the earlier texts on this network. */
function editOf({ network, line }: Stage, { target_guid: targetGuid, text }: Bodies['edit']) {
  const first = network.findMessage(line, targetGuid)
  const edits = first === null ? [] : [{ text: first.text ?? '', at: timestamp(first.at) }]
  for (const { details, at } of network.changesOf(line, targetGuid)) {
    const change = JSON.parse(details ?? '{}') as ChangeDetails // This network wrote it.
    if (change.kind === 'edited') edits.push({ text: change.text, at: timestamp(at) })
  }
  return { kind: 'edited' as const, targetGuid, text, edits }
}

function changeGroup(stage: Stage, event: Bodies['group_change']): string {
  const { change, actor, target } = event
  const group = groupIn(event.group)
  const members = {
    actor: actor === undefined ? null : personIn('actor', actor),
    target: target === undefined ? null : personIn('target', target),
  }
  stage.network.saveGroup(stage.line, group, change === 'left' && members.actor === null)
  return postChange(stage, { kind: 'group', group, change, ...members })
}

/** Adds the group to a change of a message in a group. */
function changeMessage(
  stage: Stage,
  details: Exclude<ChangeDetails, { readonly kind: 'group' }>,
): string {
  const target = stage.network.findMessage(stage.line, details.targetGuid)
  const { group } = JSON.parse(target?.details ?? '{}') as MessageDetails // This network wrote it too.
  return postChange(stage, { ...details, group })
}

function postChange({ network, line, at }: Stage, details: ChangeDetails): string {
  const guid = network.newGuid()
  network.post([eventAbout('change', { line, guid, at }, details)])
  return guid
}

function personIn(path: string, text: string): Handle {
  const recipient = parseRecipient(text)
  if (recipient !== null) return recipient.handle
  throw invalidRequest({ path, message: 'must be a number like +12025550147 or an email address' })
}

function groupIn({ identifier, name, participants }: Shape<typeof Group>): DeviceGroup {
  return {
    chatGuid: `iMessage;+;${identifier}`,
    identifier: deviceHandle(identifier),
    name: name ?? null,
    participants: participants.map((person) => personIn('group.participants', person)),
  }
}
