// Asks for the password again before keys, secrets and restores; drawn once, by the shell. What waits
// for it is repeated by `api.ts`.

import { useSignal } from '@preact/signals'

import { useDashboard } from '../dashboard.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'

export function PasswordDialog() {
  const { session } = useDashboard()
  const password = useSignal('')
  const error = useSignal<string | null>(null)
  const isBusy = useSignal(false)

  async function submit() {
    if (isBusy.value) return
    isBusy.value = true
    const answer = await session.elevate(password.value)
    isBusy.value = false
    error.value = answer.ok ? null : answer.failure.message
    if (answer.ok) session.answerPassword(true)
  }
  return (
    <Dialog
      title="Your password, please"
      onClose={() => session.answerPassword(false)}
      onSubmit={() => void submit()}
      actions={
        <Button type="submit" look="main" isBusy={isBusy.value}>
          Continue
        </Button>
      }
    >
      <p>It was given more than an hour ago, and this needs it again.</p>
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        isFirst
        value={password.value}
        error={error.value}
        onInput={(text) => (password.value = text)}
      />
    </Dialog>
  )
}
