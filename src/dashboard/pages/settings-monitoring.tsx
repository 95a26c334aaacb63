import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { TextSetting } from './settings-fields.tsx'
import { useSetting } from './settings-saving.ts'
import { Section } from './settings-section.tsx'

const NONE = 'none'

/** How one hears that the relay stopped, and finds out why. */
export function MonitoringSection() {
  const { setting, save } = useSetting('heartbeat_url')
  const called = setting === null || setting.value === NONE ? null : setting.value
  return (
    <Section title="Health" about="How you hear that something is wrong.">
      <TextSetting
        name="heartbeat_url"
        label="Heartbeat URL"
        type="url"
        placeholder={called ?? 'https://hc-ping.com/…'}
        hint={
          called === null
            ? 'Called every 5 minutes while all is well. A monitor that misses the call tells you.'
            : `Called every 5 minutes: ${called}. A key in it is not shown.`
        }
        // What is there may hold a key, so the field takes only what is new.
        toText={() => ''}
      >
        {called !== null && setting?.is_locked === false && (
          <div class="actions">
            <Button
              onClick={({ target }) => {
                // The button goes, and the focus must be somewhere.
                if (target instanceof Element)
                  target.closest('form')?.querySelector('input')?.focus()
                void save(NONE)
              }}
            >
              Call nobody
            </Button>
          </div>
        )}
      </TextSetting>
      <p>
        <a href={href('home')}>Home</a> shows what is wrong, and how to mend it. On the machine
        itself this does, also where the relay does not run:
      </p>
      <CodeBlock what="Command" text="hookline doctor" />
    </Section>
  )
}
