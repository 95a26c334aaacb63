// Simulates incoming events of every kind on a simulated line.

import { useSignal } from '@preact/signals'

import type { PhoneLine } from '../../api/phone-lines.ts'
import type { Answer, Api } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Form, SelectField, TextField } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { typedHandle } from '../numbers.ts'

/** Builds the body of an event. `targetGuid` is the latest message with the person, if any. */
type Scene = (from: string, text: string, targetGuid: string | null) => object

const file =
  (kind: string): Scene =>
  (from, text) => ({ type: 'message', from, text, attachments: [{ kind }] })

const SCENES: Readonly<Record<string, Scene>> = {
  'Text message': (from, text) => ({ type: 'message', from, text }),
  SMS: (from, text) => ({ type: 'message', from, text, service: 'SMS' }),
  Picture: file('jpeg'),
  'Picture in HEIC': file('heic'),
  PDF: file('pdf'),
  'File that arrives after 15 seconds': file('slow'),
  'File that never arrives': file('never'),
  'Message in a group': (from, text) => {
    const group = { identifier: 'weekend', name: 'Weekend', participants: [from] }
    return { type: 'message', from, text, group }
  },
  'Reply to the latest message': (from, text, guid) => {
    return { type: 'message', from, text, ...(guid !== null && { reply_to_guid: guid }) }
  },
  'Reaction to the latest message': (from, _text, target_guid) => {
    return { type: 'reaction', from, target_guid, reaction: 'love' }
  },
  'Edit of the latest message': (_from, text, target_guid) => {
    return { type: 'edit', target_guid, text }
  },
  'Unsend of the latest message': (_from, _text, target_guid) => ({ type: 'unsend', target_guid }),
}

const OPTIONS = Object.keys(SCENES).map((name) => ({ value: name, text: name }))

export function Simulation({ line }: { readonly line: PhoneLine }) {
  const { api, notices } = useDashboard()
  const from = useSignal('+12025550140')
  const text = useSignal('Is my table ready?')
  const chosen = useSignal('Picture')
  const { isBusy, failure, start } = useAction(
    () => simulate(api, line, { scene: SCENES[chosen.value], from: from.value, text: text.value }),
    () => notices.done('Simulated. What this line relays is in Conversations.'),
  )
  return (
    <Card title="Simulate">
      <Form onSubmit={start}>
        <SelectField label="Event" bind={chosen} options={OPTIONS} />
        <TextField label="From" type="tel" bind={from} />
        <TextField label="Text" bind={text} />
        <FailureNote failure={failure} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy}>
            Simulate
          </Button>
        </div>
      </Form>
    </Card>
  )
}

type Wanted = {
  readonly scene: Scene | undefined
  readonly from: string
  readonly text: string
}

async function simulate(
  api: Api,
  line: PhoneLine,
  { scene, from, text }: Wanted,
): Promise<Answer<unknown>> {
  const handle = typedHandle(from, [line])
  const query = { phone_line_id: line.id, handle, limit: 1 }
  const latest = await api.call('listMessages', { query })
  if (!latest.ok) return latest
  const guid = latest.value.data[0]?.platform_guid ?? null
  return api.actOnLine(line, 'events', scene?.(handle, text, guid))
}
