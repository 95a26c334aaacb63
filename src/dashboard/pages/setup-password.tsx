// What a setup link leads to: the password is set, for the first time or because it was forgotten.

import { href } from '../address.ts'
import { AloneHead } from '../components/alone-head.tsx'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { Card } from '../components/card.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { AccountName } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { useAction, type Action } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError } from '../field-error.ts'
import { NewPasswordFields, useNewPassword, type NewPassword } from './setup-password-fields.tsx'

type Props = { readonly token: string }

export function SetPassword({ token }: Props) {
  const { router, session } = useDashboard()
  const chosen = useNewPassword()
  const setUp = useAction(
    () => session.setUp(token, chosen.password.value),
    ({ setup_step }) => {
      router.forgetSetupToken()
      // Who mends a forgotten password has been through the rest before.
      if (setup_step === null) router.go(href('home'))
    },
  )
  const isNew = session.now.value?.state === 'unclaimed'
  const title = isNew ? 'Choose a password' : 'Choose a new password'
  if (setUp.failure?.code === 'setup_link_invalid') return <LinkRefused />
  return (
    <>
      <AloneHead title={title}>
        {isNew
          ? 'It opens this dashboard, and there is only this one.'
          : 'Every browser that is signed in is signed out by it.'}
      </AloneHead>
      <Card>
        <PasswordForm chosen={chosen} action={setUp} />
      </Card>
    </>
  )
}

type FormProps = { readonly chosen: NewPassword; readonly action: Action<[]> }

function PasswordForm({ chosen, action: { isBusy, failure, start } }: FormProps) {
  return (
    <Form isFirst onSubmit={() => chosen.isFit() && start()}>
      <AccountName />
      <NewPasswordFields chosen={chosen} refusal={fieldError(failure, 'password')} />
      <FailureNote failure={failure} but={['password']} />
      <Button type="submit" look="main" isBusy={isBusy}>
        Set the password
      </Button>
    </Form>
  )
}

function LinkRefused() {
  const { router, session } = useDashboard()
  const isClaimed = session.now.value?.state !== 'unclaimed'
  return (
    <>
      <AloneHead title="This link does not work any more" />
      <Callout
        tone="warn"
        role="alert"
        title="It was used, or is older than 30 minutes, or there is a newer one"
      >
        On the machine on which the relay runs, this prints a new one:
      </Callout>
      <CodeBlock what="Command" text="hookline setup-link" />
      {isClaimed && (
        <div class="actions">
          <Button
            onClick={() => {
              router.forgetSetupToken()
              router.go(href('home'))
            }}
          >
            I know the password
          </Button>
        </div>
      )}
    </>
  )
}
