// Asks for the password again before what lasts or destroys; drawn once, by the shell. What waits for it
// is repeated by `api.ts`.

import { useSignal } from '@preact/signals'

import { useDashboard } from '../dashboard.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { AccountName, PasswordField } from './field.tsx'
import { useAction } from './use-action.ts'

export function PasswordDialog() {
  const { session } = useDashboard()
  const password = useSignal('')
  const { isBusy, failure, start } = useAction(
    () => session.elevate(password.value),
    () => session.answerPassword(true),
  )
  return (
    <Dialog
      title="Your password, please"
      onClose={() => session.answerPassword(false)}
      onSubmit={start}
      actions={
        <Button type="submit" look="main" isBusy={isBusy}>
          Continue
        </Button>
      }
    >
      <p>It was given more than an hour ago, and this needs it again.</p>
      <AccountName />
      <PasswordField isFirst bind={password} error={failure?.message} />
    </Dialog>
  )
}
