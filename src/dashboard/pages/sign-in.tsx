import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { fieldError, OF_CODE, OF_PASSWORD } from '../api.ts'
import { later } from '../clock.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { AccountName, CodeField, Form, PasswordField, TextField } from '../components/form.tsx'
import { AloneHead, Card } from '../components/page.tsx'
import { useDashboard, useAction } from '../dashboard.ts'

const CODE_NEEDED = 'second_factor_needed'

export function SignInPage() {
  const { session, notices } = useDashboard()
  const name = useSignal('')
  const password = useSignal('')
  const code = useSignal('')
  /** The password was right, and the owner's sign-in has a second step. */
  const needsCode = useSignal(false)
  const { seconds, start: startCountdown } = useCountdown()
  const { isBusy, failure, start } = useAction(
    () => session.signIn(password.value, name.value, code.value),
    () => {},
    (refused) => {
      needsCode.value = needsCode.value || refused.code === CODE_NEEDED
      startCountdown(refused.retryAfterSeconds ?? 0)
      notices.announce(refused.message)
    },
  )
  // After the wait, the error is no longer true.
  const isOver = failure?.code === 'rate_limit_exceeded' && seconds === 0
  return (
    <div class="stack sign-in">
      <AloneHead title="Sign in" />
      {session.member && (
        <Callout tone="warn" role="alert">
          You're signed out. If your password no longer works, ask the owner.
        </Callout>
      )}
      <Card>
        <Form isFirst onSubmit={() => password.value !== '' && start()}>
          {session.now.value?.has_members === true ? (
            <TextField
              label="Name"
              hint="Empty for the owner."
              autoComplete="username"
              bind={name}
            />
          ) : (
            <AccountName />
          )}
          <PasswordField
            bind={password}
            error={isOver || needsCode.value ? null : fieldError(failure, ...OF_PASSWORD)}
          />
          {needsCode.value && (
            <CodeField
              bind={code}
              hint="From your authenticator app, or a recovery code."
              error={isOver ? null : fieldError(failure, ...OF_CODE, 'wrong_password')}
            />
          )}
          <FailureNote failure={failure} but={[...OF_PASSWORD, ...OF_CODE, CODE_NEEDED]} />
          <Button type="submit" variant="main" isBusy={isBusy} isDisabled={seconds > 0}>
            {seconds > 0 ? `Wait ${seconds} s` : 'Sign in'}
          </Button>
        </Form>
      </Card>
      <Forgotten />
    </div>
  )
}

function Forgotten() {
  return (
    <p class="small quiet">
      Forgot your password, or lost your phone? Run <code>hookline setup-link</code> on the computer
      that runs Hookline, and open the link it prints.
    </p>
  )
}

/** Counts seconds down to 0, from the number given to `start`. */
function useCountdown() {
  const { clock } = useDashboard()
  const left = useSignal(0)
  const seconds = left.value
  useEffect(() => {
    if (seconds === 0) return
    return later(clock, 1_000, () => (left.value = seconds - 1))
  }, [seconds])
  return { seconds, start: (from: number) => (left.value = from) }
}
