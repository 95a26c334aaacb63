import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { TextField } from '../components/field.tsx'
import { useFirstField } from '../components/use-first-field.ts'
import { useTitle } from '../components/use-title.ts'
import { useDashboard } from '../dashboard.ts'
import type { Failure } from '../request.ts'
import { useCountdown } from './log-in-countdown.ts'
import { AloneHead } from './log-in-head.tsx'

/** What belongs beside the field; anything else is told as a whole. */
const OF_FIELD = new Set(['wrong_password', 'rate_limit_exceeded'])

export function LogInPage() {
  useTitle('Log in')
  return (
    <>
      <AloneHead title="Log in" />
      <Card>
        <LogInForm />
      </Card>
      <p class="small quiet">
        Forgot the password? On the machine on which the relay runs,{' '}
        <code>hookline setup-link</code> prints a link that sets a new one.
      </p>
    </>
  )
}

function LogInForm() {
  const { password, failure, isBusy, seconds, logIn } = useLogIn()
  const form = useFirstField()
  const isOfField = failure !== null && OF_FIELD.has(failure.code)
  return (
    <form
      ref={form}
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void logIn()
      }}
    >
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password.value}
        error={isOfField ? failure.message : null}
        onInput={(text) => (password.value = text)}
      />
      {failure !== null && !isOfField && <FailureNote failure={failure} />}
      <Button type="submit" look="main" isBusy={isBusy} isDisabled={seconds > 0}>
        {seconds > 0 ? `Wait ${seconds} s` : 'Log in'}
      </Button>
    </form>
  )
}

function useLogIn() {
  const { session, notices } = useDashboard()
  const password = useSignal('')
  const failure = useSignal<Failure | null>(null)
  const isBusy = useSignal(false)
  const { seconds, start } = useCountdown()
  // Once the time is over, that there were too many says nothing more.
  const isOver = failure.value?.code === 'rate_limit_exceeded' && seconds === 0

  async function logIn() {
    if (isBusy.value || password.value === '') return
    isBusy.value = true
    const answer = await session.logIn(password.value)
    isBusy.value = false
    if (answer.ok) return
    failure.value = answer.failure
    start(answer.failure.retryAfterSeconds ?? 0)
    if (OF_FIELD.has(answer.failure.code)) notices.say(answer.failure.message)
  }
  return {
    password,
    failure: isOver ? null : failure.value,
    isBusy: isBusy.value,
    seconds,
    logIn,
  }
}
