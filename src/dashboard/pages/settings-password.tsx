import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/field.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard, useLive } from '../dashboard.ts'
import { fieldError, otherFailure } from '../field-error.ts'
import { browsersSource } from './settings-sources.ts'
import { NewPasswordFields, useNewPassword } from './setup-password-fields.tsx'

const OF_CURRENT = new Set(['wrong_password', 'rate_limit_exceeded'])

export function ChangePassword() {
  const isAsking = useSignal(false)
  return (
    <div class="stack stack-tight">
      <h3>Password</h3>
      <p class="field-hint">Another one signs out all other browsers.</p>
      <div class="actions">
        <Button onClick={() => (isAsking.value = true)}>Change the password</Button>
      </div>
      {isAsking.value && <PasswordDialog onClose={() => (isAsking.value = false)} />}
    </div>
  )
}

function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const { session, notices } = useDashboard()
  const browsers = useLive(browsersSource())
  const chosen = useNewPassword()
  const current = useSignal('')
  const { isBusy, failure, start } = useAction(
    () => session.changePassword(current.value, chosen.password.value),
    () => {
      browsers.refresh()
      notices.done('The password is changed.')
      onClose()
    },
  )
  const isOfCurrent = failure !== null && OF_CURRENT.has(failure.code)
  const rest = isOfCurrent ? null : otherFailure(failure, ['current', 'password'])
  return (
    <Dialog
      title="Change the password"
      onClose={onClose}
      onSubmit={() => {
        if (chosen.isFit()) start()
      }}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" isBusy={isBusy}>
            Change it
          </Button>
        </>
      }
    >
      <TextField
        label="Present password"
        type="password"
        autoComplete="current-password"
        isFirst
        value={current.value}
        error={isOfCurrent ? failure.message : fieldError(failure, 'current')}
        onInput={(text) => (current.value = text)}
      />
      <NewPasswordFields chosen={chosen} refusal={fieldError(failure, 'password')} />
      {rest !== null && <FailureNote failure={rest} />}
    </Dialog>
  )
}
