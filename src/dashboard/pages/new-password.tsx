// Passwords: choosing one by setup link or in Settings, and confirming the current one.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { fieldError, OF_PASSWORD } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ActionDialog, Dialog } from '../components/dialog.tsx'
import { AccountName, Form, PasswordField, Switch } from '../components/form.tsx'
import { AloneHead, Card } from '../components/page.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useBrowsers } from '../sources.ts'
import { passwordProblem, strengthWords } from '../words/password.ts'

function useNewPassword() {
  const password = useSignal('')
  const repeated = useSignal('')
  /** Both texts of the latest attempt. Its errors are shown until a text changes. */
  const tried = useSignal<string | null>(null)
  return {
    password,
    repeated,
    tried,
    /** Shows the errors, and returns whether there are none. */
    isFit() {
      tried.value = password.value + repeated.value
      return passwordProblem(password.value) === null && password.value === repeated.value
    },
  }
}

type FieldsProps = {
  readonly chosen: ReturnType<typeof useNewPassword>
  readonly refusal: string | null
}

function NewPasswordFields({ chosen, refusal }: FieldsProps) {
  const { password, repeated, tried } = chosen
  const isShown = useSignal(false)
  const words = { type: isShown.value ? 'text' : 'password', autoComplete: 'new-password' } as const
  const isTried = tried.value === password.value + repeated.value
  const problem = isTried ? passwordProblem(password.value) : null
  const isDifferent = isTried && problem === null && password.value !== repeated.value
  return (
    <>
      <PasswordField
        {...words}
        label="New password"
        bind={password}
        hint={strengthWords(password.value)}
        error={problem ?? refusal}
      />
      <PasswordField
        {...words}
        label="Confirm password"
        bind={repeated}
        error={isDifferent ? "The passwords don't match." : null}
      />
      <Switch
        label="Show password"
        isOn={isShown.value}
        onChange={(isOn) => (isShown.value = isOn)}
      />
    </>
  )
}

/** The page of a setup link: sets the first password, or replaces a forgotten one. */
export function SetPassword({ token }: { readonly token: string }) {
  const { router, session } = useDashboard()
  const { name } = router.route.value.query
  const chosen = useNewPassword()
  const { isBusy, failure, start } = useAction(
    () => session.setUp(token, chosen.password.value),
    ({ setup_step }) => {
      router.forgetSetupToken()
      // If the password was forgotten, setup is already finished.
      if (setup_step === null) router.go(href('home'))
    },
  )
  const isNew = session.now.value?.state === 'unclaimed'
  if (failure?.code === 'setup_link_invalid') return <LinkRefused />
  return (
    <>
      {name === undefined ? (
        <AloneHead title={isNew ? 'Choose a password' : 'Choose a new password'}>
          {isNew ? 'You sign in to this dashboard with it.' : 'This signs out all other browsers.'}
        </AloneHead>
      ) : (
        <AloneHead title="Choose a password">
          {/* Isolated, because the name may be in a right-to-left script. */}
          {`Your name here is \u2068${name}\u2069. Sign in with it and this password.`}
        </AloneHead>
      )}
      <Card>
        <Form isFirst onSubmit={() => chosen.isFit() && start()}>
          <AccountName name={name} />
          <NewPasswordFields chosen={chosen} refusal={fieldError(failure, 'password')} />
          <FailureNote failure={failure} but={['password']} />
          <Button type="submit" variant="main" isBusy={isBusy}>
            Set password
          </Button>
        </Form>
      </Card>
    </>
  )
}

function LinkRefused() {
  const { router, session } = useDashboard()
  const isClaimed = session.now.value?.state !== 'unclaimed'
  const isMember = router.route.value.query['name'] !== undefined
  const leave = () => {
    router.forgetSetupToken()
    router.go(href('home'))
  }
  return (
    <>
      <AloneHead title="This link no longer works" />
      <Callout
        tone="warn"
        role="alert"
        title="It was already used, has expired, or was replaced by a newer one"
      >
        {isMember
          ? 'Ask the person who runs Hookline for a new one.'
          : 'To get a new link, run this on the computer that runs Hookline:'}
      </Callout>
      {!isMember && <CodeBlock what="Command" text="hookline setup-link" />}
      {isClaimed && (
        <div class="actions">
          <Button onClick={leave}>Sign in instead</Button>
        </div>
      )}
    </>
  )
}

type ChangeProps = { readonly title: string; readonly onClose: () => void }

export function ChangePassword({ title, onClose }: ChangeProps) {
  const { session, notices } = useDashboard()
  const browsers = useBrowsers()
  const chosen = useNewPassword()
  const current = useSignal('')
  const action = useAction(
    () => session.changePassword(current.value, chosen.password.value),
    () => {
      browsers.refresh()
      notices.done('Password changed.')
      onClose()
    },
  )
  const { failure } = action
  return (
    <ActionDialog
      title={title}
      confirm={title}
      action={action}
      but={['current', 'password', ...OF_PASSWORD]}
      onClose={onClose}
      onSubmit={() => chosen.isFit() && action.start()}
    >
      <AccountName />
      <PasswordField
        label="Current password"
        isFirst
        bind={current}
        error={fieldError(failure, 'current', ...OF_PASSWORD)}
      />
      <NewPasswordFields chosen={chosen} refusal={fieldError(failure, 'password')} />
    </ActionDialog>
  )
}

/** Asks for the password again; then `api.ts` repeats the calls that need it. */
export function ConfirmPassword({ onClose }: { readonly onClose: () => void }) {
  const { session } = useDashboard()
  const password = useSignal('')
  const { isBusy, failure, start } = useAction(
    () => session.elevate(password.value),
    () => session.answerPassword(true),
  )
  return (
    <Dialog
      title="Confirm your password"
      onClose={onClose}
      onSubmit={start}
      actions={
        <Button type="submit" variant="main" isBusy={isBusy}>
          Continue
        </Button>
      }
    >
      <p>For your security, enter your password again to continue.</p>
      <AccountName />
      <PasswordField isFirst bind={password} error={failure?.message} />
    </Dialog>
  )
}
