import { Card } from '../components/card.tsx'
import { Icon } from '../components/icon.tsx'
import type { PhoneLine } from '../resources.ts'

type Capability = keyof PhoneLine['capabilities']

/** Each goes on behind "It can" or "It cannot". */
const CAPABILITIES: readonly (readonly [name: Capability, words: string])[] = [
  ['new_contacts', 'write to somebody for the first time'],
  ['delivered', 'tell when a message was delivered'],
  ['read', 'tell when a message was read'],
  ['choose_service', 'choose between iMessage and SMS'],
  ['attachments', 'send pictures and files'],
  ['guid', 'tell the id that the device gives a message'],
]

/** What a line can do and tell, and what it cannot. */
export function LineCapabilities({ line }: { readonly line: PhoneLine }) {
  return (
    <Card title="What it can do">
      {line.status === 'offline' ? (
        <p class="quiet">Known when the line is online.</p>
      ) : (
        <ul class="capabilities">
          {CAPABILITIES.map(([name, words]) => {
            const isAble = line.capabilities[name]
            return (
              <li key={name} class={isAble ? undefined : 'quiet'}>
                <Icon name={isAble ? 'check' : 'cross'} />
                <span>
                  {isAble ? 'It can' : 'It cannot'} {words}.
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}
