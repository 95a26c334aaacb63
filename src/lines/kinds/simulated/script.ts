// The script of the simulated network: a caller of the API lets people write, react, edit and unsend, and
// lets groups change.

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
import { available, changeOn, fileThatWaits, messageFrom, type Effect } from './answers.ts'
import { SAMPLES, type FileRef, type Sample } from './files.ts'
import type { Chat } from './ledger-tables.ts'
import {
  chatOf,
  type ChangeDetails,
  type MessageDetails,
  type StoredAttachment,
} from './network-events.ts'
import type { SimulatedNetwork } from './network.ts'

const FILES_MAX = 20
const PARTICIPANTS_MAX = 100
const AFTER_SECONDS_MAX = 3_600
const FILE_SECONDS = 15
const OTHER_KINDS = ['large', 'slow', 'never', 'missing'] as const

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

const Group = objectSchema('SimulatedGroup', {
  identifier: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  participants: Type.Array(Person, {
    minItems: 1,
    maxItems: PARTICIPANTS_MAX,
    description: 'Without the line itself.',
  }),
})

const File = objectSchema('SimulatedFile', {
  filename: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  content_base64: Type.Optional(Type.String({ description: 'The bytes; else give `kind`.' })),
  kind: Type.Optional(
    enumOf(
      'SimulatedFileKind',
      [...(Object.keys(SAMPLES) as Sample[]), ...OTHER_KINDS],
      '`large` has 64 MiB; `slow` comes, and `never` fails, after `after_seconds`.',
    ),
  ),
  after_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: AFTER_SECONDS_MAX, default: FILE_SECONDS }),
  ),
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
type ChangeOfMessage = Bodies['reaction' | 'edit' | 'unsend']

const Happened = objectSchema('SimulatedEvent', {
  guid: Type.String({ description: 'Of the message or the change, for events about it.' }),
})

/** The body of an event, under its `type`, with an example that works. */
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

/** The action of a line that plays an event on `network`. */
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
      const script = new Script(network(), line)
      return { guid: script.play(body as ScriptEvent) } // Checked against `bodies`.
    },
  }
}

class Script {
  readonly #network: SimulatedNetwork
  readonly #line: string

  constructor(network: SimulatedNetwork, line: string) {
    this.#network = network
    this.#line = line
  }

  /** Guid of the message or the change. */
  play(event: ScriptEvent): string {
    switch (event.type) {
      case 'message':
        return this.#receive(event)
      case 'reaction':
        return this.#change(event, this.#reactionOf(event))
      case 'edit':
        return this.#change(event, this.#editOf(event))
      case 'unsend':
        return this.#change(event, { kind: 'unsent', targetGuid: event.target_guid })
      case 'group_change':
        return this.#changeGroup(event)
    }
  }

  #receive(event: Bodies['message']): string {
    const { text = '', attachments = [], service, reply_to_guid: target } = event
    if (text === '' && attachments.length === 0) {
      throw invalidRequest({ path: 'text', message: 'is required without attachments' })
    }
    const guid = this.#network.newGuid()
    const afterMs = msOf(event)
    const group = event.group === undefined ? undefined : groupIn(event.group)
    const sender = {
      line: this.#line,
      from: personIn('from', event.from),
      group,
      service: service === 'SMS' ? service : null,
      afterMs,
    }
    const files = attachments.map((file, index) => this.#fileOf(file, index, { guid, afterMs }))
    const message = messageFrom(sender, guid, text, {
      attachments: files.map(({ stored }) => stored),
      ...(target === undefined ? {} : { replyTo: { guid: target, part: 0 } }),
    })
    const effects = [message, ...files.flatMap(({ later }) => later)]
    this.#network.post(effects, group === undefined ? [] : [chatOf(this.#line, group)])
    return guid
  }

  #fileOf(
    file: Shape<typeof File>,
    index: number,
    message: { readonly guid: string; readonly afterMs: number },
  ): { readonly stored: StoredAttachment; readonly later: readonly Effect[] } {
    const { filename, kind, after_seconds: seconds = FILE_SECONDS } = file
    const guid = this.#network.newGuid()
    if (kind === 'slow' || kind === 'never') {
      const sample = kind === 'slow' ? this.#network.files.sample('jpeg') : null
      const place = { line: this.#line, guid, messageGuid: message.guid, filename }
      const waiting = fileThatWaits(sample, place)
      return { stored: waiting.now, later: [waiting.after(message.afterMs + seconds * 1_000)] }
    }
    if (kind === 'missing') {
      const known = { guid, filename: filename ?? 'IMG_0003.JPG', declaredType: 'image/jpeg' }
      return { stored: { ...known, size: null, state: 'missing' }, later: [] }
    }
    const found = this.#bytesOf(file, index)
    return {
      stored: available({ ...found, filename: filename ?? found.filename }, guid),
      later: [],
    }
  }

  #bytesOf({ content_base64: content, kind }: Shape<typeof File>, index: number): FileRef {
    const { files } = this.#network
    if ((content === undefined) === (kind === undefined)) {
      const message = 'needs either content_base64 or kind'
      throw invalidRequest({ path: `attachments.${index}`, message })
    }
    if (kind === 'large') return files.large()
    if (kind !== undefined) return files.sample(kind as Sample) // The others were dealt with.
    const bytes = bytesIn(content ?? '', `attachments.${index}.content_base64`)
    return { filename: 'file', declaredType: 'application/octet-stream', ...files.write(bytes) }
  }

  #reactionOf(event: Bodies['reaction']): ChangeDetails {
    const { target_guid: targetGuid, reaction: type, action = 'added', part = 0 } = event
    const handle = personIn('from', event.from)
    const emoji = event.emoji ?? null
    if ((type === 'emoji') !== (emoji !== null)) {
      throw invalidRequest({
        path: 'emoji',
        message: 'belongs to the reaction emoji, and to no other',
      })
    }
    return { kind: 'reaction', targetGuid, action, type, emoji, part, handle, isFromMe: false }
  }

  /** The earlier texts are those that the message had on this network. */
  #editOf({ target_guid: targetGuid, text }: Bodies['edit']): ChangeDetails {
    const { ledger } = this.#network
    const first = ledger.findMessage(this.#line, targetGuid)
    const texts = first === null ? [] : [{ text: first.text, at: timestamp(first.at) }]
    for (const { details, at } of ledger.changesOf(this.#line, targetGuid)) {
      const change = JSON.parse(details ?? '{}') as ChangeDetails // Written by this network.
      if (change.kind === 'edited') texts.push({ text: change.text, at: timestamp(at) })
    }
    return { kind: 'edited', targetGuid, text, edits: texts }
  }

  #changeGroup(event: Bodies['group_change']): string {
    const { change, actor, target } = event
    const group = groupIn(event.group)
    const members = {
      actor: actor === undefined ? null : personIn('actor', actor),
      target: target === undefined ? null : personIn('target', target),
    }
    const isLeft = change === 'left' && members.actor === null
    const chat = chatOf(this.#line, group, isLeft)
    return this.#post(event, { kind: 'group', group, change, ...members }, [chat])
  }

  /** A change of a message in a group names the group. */
  #change(event: ChangeOfMessage, details: ChangeDetails): string {
    const target = this.#network.ledger.findMessage(this.#line, event.target_guid)
    const { group } = JSON.parse(target?.details ?? '{}') as MessageDetails // Of this network too.
    return this.#post(event, group === undefined ? details : { ...details, group }, [])
  }

  #post(event: ScriptEvent, details: ChangeDetails, chats: readonly Chat[]): string {
    const guid = this.#network.newGuid()
    const place = { line: this.#line, guid, afterMs: msOf(event) }
    this.#network.post([changeOn(place, details)], chats)
    return guid
  }
}

function msOf({ after_seconds: seconds = 0 }: ScriptEvent): number {
  return seconds * 1_000
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

function bytesIn(base64: string, path: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64)
  } catch {
    throw invalidRequest({ path, message: 'is not Base64' })
  }
}
