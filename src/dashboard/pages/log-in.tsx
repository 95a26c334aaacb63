import { useSignal } from '@preact/signals'

import { AloneHead } from '../components/alone-head.tsx'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { AccountName, PasswordField } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError, OF_PASSWORD } from '../field-error.ts'
import { useCountdown } from './log-in-countdown.ts'

export function LogInPage() {
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
  const { session, notices } = useDashboard()
  const password = useSignal('')
  const countdown = useCountdown()
  const { isBusy, failure, start } = useAction(
    () => session.logIn(password.value),
    () => {},
    (refusal) => {
      countdown.start(refusal.retryAfterSeconds ?? 0)
      notices.say(refusal.message)
    },
  )
  const { seconds } = countdown
  // Once the time is over, that there were too many says nothing more.
  const isOver = failure?.code === 'rate_limit_exceeded' && seconds === 0
  return (
    <Form isFirst onSubmit={() => password.value !== '' && start()}>
      <AccountName />
      <PasswordField bind={password} error={isOver ? null : fieldError(failure, ...OF_PASSWORD)} />
      <FailureNote failure={failure} but={OF_PASSWORD} />
      <Button type="submit" look="main" isBusy={isBusy} isDisabled={seconds > 0}>
        {seconds > 0 ? `Wait ${seconds} s` : 'Log in'}
      </Button>
    </Form>
  )
}
