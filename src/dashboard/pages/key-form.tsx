// Makes a key: of a name and a sentence of choices about what it may do, or from another one: one that takes its place,
// or one with the same permissions under a new name. Its secret is shown once.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import type { CreatedKey, KeyRules, Key, RotatedKey } from '../../api/keys.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { limitsLike } from '../../domain/permissions.ts'
import { fieldError } from '../api.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { ActionDialog, ShownOnce } from '../components/dialog.tsx'
import { TextArea, TextField, bindTo, type Option, SelectField } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { typedHandle } from '../numbers.ts'
import { conversationName } from '../people.ts'
import { useKinds, useLatestConversations, useLines, useSites } from '../sources.ts'
import { isoTime, momentWords } from '../time-words.ts'
import {
  APPROVAL_CHOICES,
  EXPIRY_CHOICES,
  KEYS as WORDS,
  RECIPIENT_CHOICES,
  SCOPE_CHOICES,
  firstCall,
  keyName,
  keySentence,
} from '../words/keys.ts'
import { isReady, lineName } from '../words/line-states.ts'

const SAVE = 'Save your key and secret'

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { api, clock } = useDashboard()
  const name = useSignal('')
  const lines = useLines().value?.data ?? []
  const chosen = useSignal<Partial<Limits>>({})
  const line = (lines.find(isReady) ?? lines[0])?.id ?? ''
  const limits: Limits = { ...PROPOSED, line, ...chosen.value }
  // Nothing else in the page ever holds the secret, which goes with the dialog.
  const created = useSignal<CreatedKey | null>(null)
  const action = useAction(
    () => {
      const asked = limitsAsked(limits, lines, clock.time())
      return api.call('createKey', { body: { name: name.value.trim() || null, ...asked } })
    },
    (key) => (created.value = key),
  )
  if (created.value !== null) {
    const done = () => {
      created.value = null
      onClose()
    }
    return (
      <ShownOnce title={SAVE} onDone={done}>
        <KeyAndSecret created={created.value} />
      </ShownOnce>
    )
  }
  return (
    <ActionDialog
      title={WORDS.newKey}
      confirm="Create key"
      action={action}
      but={['name', 'rules.allow']}
      onClose={onClose}
    >
      <TextField
        label={WORDS.name}
        placeholder="Booking system"
        hint="The app that uses it. You'll type this name to revoke the key."
        isFirst
        maxLength={100}
        bind={name}
        error={fieldError(action.failure, 'name')}
      />
      <LimitsSentence
        limits={limits}
        lines={lines}
        allowError={fieldError(action.failure, 'rules.allow')}
        onChange={(field, value) => (chosen.value = { ...chosen.value, [field]: value })}
      />
    </ActionDialog>
  )
}

/** The choices in the form; an empty text is no limit. `line` may also be the id of a site. */
type Limits = {
  readonly scopes: string
  readonly line: string
  readonly conversation: string
  readonly recipients: KeyRules['recipients']
  readonly allow: string
  readonly rate: string
  readonly approval: KeyRules['approval']
  readonly expiry: string
}

const PROPOSED: Omit<Limits, 'line'> = {
  scopes: 'both',
  conversation: '',
  recipients: 'anyone',
  allow: '',
  rate: '',
  approval: 'never',
  expiry: '',
}
const DAY_MS = 86_400_000

function scopesIn({ scopes }: Limits) {
  return SCOPE_CHOICES.find(({ value }) => value === scopes)?.scopes ?? null
}

/** The request's fields for the choices. */
function limitsAsked(limits: Limits, lines: readonly PhoneLine[], now: number) {
  const { line, conversation, allow, rate, approval, expiry } = limits
  const recipients = recipientsIn(limits)
  const scopes = scopesIn(limits)
  const isList = recipients === 'list'
  const allowed = allow.split(/[\n,;]/).filter((each) => each.trim() !== '')
  const hasRules = maySend(limits) && (recipients !== 'anyone' || rate || approval !== 'never')
  return {
    ...(scopes === null ? {} : { scopes }),
    ...(line === '' ? {} : { [isSite(line) ? 'site_ids' : 'phone_line_ids']: [line] }),
    ...(conversation === '' ? {} : { conversation_ids: [conversation] }),
    ...(expiry === '' ? {} : { expires_at: isoTime(now + Number(expiry) * DAY_MS) }),
    ...(hasRules && {
      rules: {
        recipients,
        approval,
        ...(isList && { allow: allowed.map((each) => typedHandle(each, lines)) }),
        ...(rate !== '' && { sends_per_hour: Number(rate) }),
      },
    }),
  }
}

const isSite = (id: string) => id.startsWith('site_')

/** A key of one conversation can't write to others, so its recipients need no limit. */
function recipientsIn({ conversation, recipients }: Limits): Limits['recipients'] {
  return conversation === '' ? recipients : 'anyone'
}

function maySend(limits: Limits): boolean {
  const scopes = scopesIn(limits)
  return scopes === null || scopes.includes('send')
}

type SentenceProps = {
  readonly limits: Limits
  readonly lines: readonly PhoneLine[]
  readonly allowError: string | null
  readonly onChange: <F extends keyof Limits>(field: F, value: Limits[F]) => void
}

const CHOICE_LABELS = {
  scopes: 'What it may do',
  line: 'Lines',
  conversation: 'Conversations',
  recipients: 'Recipients',
  rate: 'Messages an hour',
  approval: 'Approval',
  expiry: 'Validity',
} as const

const RATE_CHOICES: readonly Option[] = [
  { value: '', text: 'any number of messages' },
  ...['10', '30', '100', '300'].map((value) => ({
    value,
    text: `at most ${value} messages an hour`,
  })),
]

/** The latest conversations on the chosen line, or of the chosen site. */
function useTalks({ line }: Limits, lines: readonly PhoneLine[]): readonly Option[] {
  const siteOf = (id: string) => lines.find((one) => one.id === id)?.site_id
  return (useLatestConversations(true).value?.data ?? [])
    .filter(({ phone_line_id: id }) => [id, siteOf(id), ''].includes(line))
    .map((one) => ({ value: one.id, text: `only with ${conversationName(one)}` }))
}

/** "This key may [read and send] on [Shop] to [anyone], at most …": each choice is part of the sentence. */
function LimitsSentence({ limits, lines, allowError, onChange }: SentenceProps) {
  const choice = <F extends keyof typeof CHOICE_LABELS>(
    field: F,
    options: readonly Option<Limits[F]>[],
  ) => (
    <select
      class="input key-choice"
      aria-label={CHOICE_LABELS[field]}
      value={limits[field]}
      onChange={({ currentTarget }) => {
        const chosen = options.find(({ value }) => value === currentTarget.value)
        if (chosen !== undefined) onChange(field, chosen.value)
        if (field === 'line') onChange('conversation', '')
      }}
    >
      {options.map(({ value, text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
  const talks = useTalks(limits, lines)
  const ofLines = lines.map((line) => ({ value: line.id, text: lineName(line) }))
  const ofSites = useSites().map(({ id: value, name }) => ({ value, text: `lines of ${name}` }))
  return (
    <fieldset class="key-limits">
      <legend>{WORDS.permissions}</legend>
      <p>
        <Clause>This key may {choice('scopes', SCOPE_CHOICES)}</Clause>{' '}
        <Clause>
          on {choice('line', [...ofLines, ...ofSites, { value: '', text: 'all lines' }])}
        </Clause>{' '}
        <Clause>
          {choice('conversation', [{ value: '', text: 'in all conversations' }, ...talks])}
          {(limits.conversation !== '' || !maySend(limits)) && ','}
        </Clause>{' '}
        {maySend(limits) && (
          <>
            {limits.conversation === '' && (
              <Clause>to {choice('recipients', RECIPIENT_CHOICES)},</Clause>
            )}{' '}
            <Clause>{choice('rate', RATE_CHOICES)},</Clause>{' '}
            <Clause>with {choice('approval', APPROVAL_CHOICES)},</Clause>{' '}
          </>
        )}
        <Clause>{choice('expiry', EXPIRY_CHOICES)}.</Clause>
      </p>
      {maySend(limits) && recipientsIn(limits) === 'list' && (
        <TextArea
          label="Numbers and email addresses"
          hint="One on each line. The key can write to nobody else."
          bind={bindTo(limits.allow, (allow) => onChange('allow', allow))}
          error={allowError}
        />
      )}
    </fieldset>
  )
}

/** A part of the sentence that isn't broken across lines. */
function Clause({ children }: { readonly children: ComponentChildren }) {
  return <span class="key-clause">{children}</span>
}

export function KeyAndSecret({ created }: { readonly created: CreatedKey }) {
  const lines = useLines().value?.data ?? []
  const { title, curl, recipient } = firstCall(
    created,
    { lines, kinds: useKinds() },
    location.origin,
  )
  const { connect } = created
  const parts: readonly (readonly [head: string, what: string, text: string])[] =
    connect === undefined
      ? [
          [WORDS.key, WORDS.key, created.key],
          ['Secret', 'Secret', created.secret],
          [title, 'Command', curl],
        ]
      : Object.entries(connect).map(([name, value]) => [name, name, value])
  return (
    <>
      <p>You won't see the secret again. Keep both private, and give them only to your app.</p>
      {parts.map(([head, what, text]) => (
        <div key={head} class="stack-tight">
          <h3>{head}</h3>
          <CodeBlock what={what} text={text} />
        </div>
      ))}
      {connect === undefined && <p class="field-hint">{recipient}</p>}
    </>
  )
}

type FromProps = { readonly of: Key; readonly onClose: () => void }

const OVERLAPS = [
  { value: '86400', text: 'For a day' },
  { value: '3600', text: 'For an hour' },
  { value: '604800', text: 'For a week' },
  { value: '0', text: 'Not at all: it ends now' },
]

export function RotateKey({ of: key, onClose }: FromProps) {
  const { api } = useDashboard()
  const overlap = useSignal('86400')
  const made = useSignal<RotatedKey | null>(null)
  const action = useAction(
    () => {
      const body = { overlap: Number(overlap.value) }
      return api.call('rotateKey', { params: { id: key.id }, body })
    },
    (rotated) => (made.value = rotated),
  )
  if (made.value !== null)
    return <Made of={made} title="Save the new key and secret" {...{ onClose }} />
  return (
    <ActionDialog title="Rotate this key?" confirm="Rotate" {...{ action, onClose }}>
      <p>
        You get a new key with the same name and permissions as{' '}
        <strong>
          <PersonText>{keyName(key)}</PersonText>
        </strong>
        . Give it to the app before the old key ends.
      </p>
      <SelectField label="The old key goes on working" bind={overlap} options={OVERLAPS} />
    </ActionDialog>
  )
}

export function DuplicateKey({ of: key, onClose }: FromProps) {
  const { api, clock } = useDashboard()
  const lines = useLines().value?.data ?? []
  const isOfConversations = key.conversation_ids !== undefined
  const latest = useLatestConversations(isOfConversations).value?.data ?? []
  const name = useSignal('')
  const expiry = useSignal('30')
  const made = useSignal<CreatedKey | null>(null)
  const { expires_at: end, ...limits } = limitsLike(key)
  const action = useAction(
    () => {
      const isEnding = end !== undefined && expiry.value !== ''
      const until = isEnding && {
        expires_at: isoTime(clock.time() + Number(expiry.value) * DAY_MS),
      }
      return api.call('createKey', { body: { name: name.value.trim(), ...limits, ...until } })
    },
    (created) => (made.value = created),
  )
  if (made.value !== null) return <Made of={made} title={SAVE} {...{ onClose }} />
  const { expires_at: _, ...lasting } = key
  return (
    <ActionDialog
      title="Duplicate this key"
      confirm="Create key"
      but={['name']}
      isReady={name.value.trim() !== ''}
      {...{ action, onClose }}
    >
      <TextField
        label={WORDS.name}
        hint="The app that uses the new key."
        isFirst
        maxLength={100}
        bind={name}
        error={fieldError(action.failure, 'name')}
      />
      <p>
        The same permissions as{' '}
        <strong>
          <PersonText>{keyName(key)}</PersonText>
        </strong>
        : <PersonText>{keySentence(lasting, lines, latest, useSites())}</PersonText>.
      </p>
      {end !== undefined && <SelectField label="Validity" bind={expiry} options={EXPIRY_CHOICES} />}
    </ActionDialog>
  )
}

type MadeProps<K> = Pick<FromProps, 'onClose'> & {
  readonly of: { value: K | null }
  readonly title: string
}

/** Nothing else in the page holds the secret, which goes with the dialog. */
function Made<K extends CreatedKey | RotatedKey>({ of: made, title, onClose }: MadeProps<K>) {
  const key = made.value
  if (key === null) return null
  const done = () => {
    made.value = null
    onClose()
  }
  return (
    <ShownOnce title={title} onDone={done}>
      <KeyAndSecret created={key} />
      {'old_key_expires_at' in key && (
        <p class="field-hint">The old key works until {momentWords(key.old_key_expires_at)}.</p>
      )}
    </ShownOnce>
  )
}
