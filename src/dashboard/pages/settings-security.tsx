import { Ago } from '../components/ago.tsx'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { ChangePassword } from './settings-password.tsx'
import type { BrowserSession } from './settings-resources.ts'
import { Section } from './settings-section.tsx'

type BrowsersProps = { readonly browsers: readonly BrowserSession[] }
type Props = BrowsersProps & { readonly isPasswordLocked: boolean }

/** Who gets in. */
export function SecuritySection({ browsers, isPasswordLocked }: Props) {
  return (
    <Section title="Security" about="The password, and the browsers in which it was given.">
      {isPasswordLocked ? <PasswordLocked /> : <ChangePassword />}
      <Browsers browsers={browsers} />
    </Section>
  )
}

function PasswordLocked() {
  return (
    <div class="stack-tight">
      <h3>Password</h3>
      <p class="field-hint">
        <code>HOOKLINE_ADMIN_PASSWORD</code>, or the file that it is read from, decides it. Change
        it there, and start the relay anew.
      </p>
    </div>
  )
}

function Browsers({ browsers }: BrowsersProps) {
  const { session } = useDashboard()
  const { failure, start } = useAction((where: 'here' | 'everywhere') => session.logOut(where))
  return (
    <div class="stack-tight">
      <h3>
        {browsers.length === 1 ? 'One browser is' : `${browsers.length} browsers are`} signed in
      </h3>
      <BrowserList browsers={browsers} />
      <FailureNote failure={failure} />
      <div class="actions">
        <Button onClick={() => start('here')}>Log out</Button>
        <Button onClick={() => start('everywhere')}>Log out everywhere</Button>
      </div>
    </div>
  )
}

function BrowserList({ browsers }: BrowsersProps) {
  return (
    <ul class="settings-browsers">
      {browsers.map(({ created_at, last_seen_at, is_current }, place) => (
        <li key={place}>
          <span>{is_current ? 'This browser' : 'Another browser'}</span>
          <span class="small quiet">
            signed in <Ago time={created_at} />
            {!is_current && (
              <>
                , last seen <Ago time={last_seen_at} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
