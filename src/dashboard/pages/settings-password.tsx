import { useSignal } from '@preact/signals'

import { ActionDialog } from '../components/action-dialog.tsx'
import { Button } from '../components/button.tsx'
import { AccountName, PasswordField } from '../components/field.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError, OF_PASSWORD } from '../field-error.ts'
import { useBrowsers } from './settings-sources.ts'
import { NewPasswordFields, useNewPassword } from './setup-password-fields.tsx'

export function ChangePassword() {
  const isAsking = useSignal(false)
  return (
    <div class="stack-tight">
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
  const browsers = useBrowsers()
  const chosen = useNewPassword()
  const current = useSignal('')
  const action = useAction(
    () => session.changePassword(current.value, chosen.password.value),
    () => {
      browsers.refresh()
      notices.done('The password is changed.')
      onClose()
    },
  )
  const { failure } = action
  return (
    <ActionDialog
      title="Change the password"
      confirm="Change it"
      action={action}
      but={['current', 'password', ...OF_PASSWORD]}
      onClose={onClose}
      onSubmit={() => chosen.isFit() && action.start()}
    >
      <AccountName />
      <PasswordField
        label="Present password"
        isFirst
        bind={current}
        error={fieldError(failure, 'current', ...OF_PASSWORD)}
      />
      <NewPasswordFields chosen={chosen} refusal={fieldError(failure, 'password')} />
    </ActionDialog>
  )
}
