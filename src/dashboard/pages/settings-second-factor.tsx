// The second step of the owner's sign-in: turning it on with an authenticator app, and off.

import { useSignal } from '@preact/signals'

import type { NewFactor } from '../../api/dashboard.ts'
import { fieldError, OF_CODE } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ActionDialog, DialogButton, ShownOnce } from '../components/dialog.tsx'
import { CodeField } from '../components/form.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { countWords } from '../words/common.ts'

export function TwoSteps() {
  const { api, session } = useDashboard()
  const made = useSignal<NewFactor | null>(null)
  const codes = useSignal<readonly string[] | null>(null)
  const { isBusy, failure, start } = useAction(
    () => api.call('beginSecondFactor'),
    (factor) => (made.value = factor),
  )
  const onDone = (list: readonly string[]) => (codes.value = list)
  const left = session.now.value?.second_factor?.recovery_codes_left
  return (
    <div class="stack-tight">
      <h3>Two-step sign-in</h3>
      <p class="field-hint">
        {left === undefined
          ? 'After your password, sign in with a code from an authenticator app on your phone.'
          : `On. You have ${countWords(left, 'recovery code')} left.`}
      </p>
      <FailureNote failure={failure} />
      <div class="actions">
        {left === undefined ? (
          <Button isBusy={isBusy} onClick={start}>
            Turn on
          </Button>
        ) : (
          <>
            <DialogButton dialog={(onClose) => <NewCodes {...{ onClose, onDone }} />}>
              New recovery codes
            </DialogButton>
            <DialogButton dialog={(onClose) => <TurnOff onClose={onClose} />}>
              Turn off
            </DialogButton>
          </>
        )}
      </div>
      {made.value !== null && (
        <TurnOn
          factor={made.value}
          onClose={() => (made.value = null)}
          onDone={(list) => {
            made.value = null
            onDone(list)
          }}
        />
      )}
      {codes.value !== null && (
        <RecoveryCodes codes={codes.value} onDone={() => (codes.value = null)} />
      )}
    </div>
  )
}

type TurnOnProps = {
  readonly factor: NewFactor
  readonly onClose: () => void
  readonly onDone: (codes: readonly string[]) => void
}

function TurnOn({ factor, onClose, onDone }: TurnOnProps) {
  const { api, session } = useDashboard()
  const code = useSignal('')
  const action = useAction(
    () => api.call('turnOnSecondFactor', { body: { code: code.value } }),
    ({ recovery_codes }) => {
      void session.refresh()
      onDone(recovery_codes)
    },
  )
  return (
    <ActionDialog
      title="Turn on two-step sign-in"
      confirm="Turn on"
      action={action}
      but={OF_CODE}
      isReady={code.value.trim() !== ''}
      onClose={onClose}
    >
      <p>Scan this with an authenticator app, such as your phone's password manager.</p>
      <img
        class="qr-code"
        alt="QR code for an authenticator app"
        src={`data:image/svg+xml,${encodeURIComponent(factor.qr_svg)}`}
      />
      <p>Can't scan it? Enter this key in the app:</p>
      <CodeBlock what="Key" text={factor.secret} />
      <CodeField bind={code} error={fieldError(action.failure, ...OF_CODE)} />
    </ActionDialog>
  )
}

function NewCodes({ onClose, onDone }: Omit<TurnOnProps, 'factor'>) {
  const { api, session } = useDashboard()
  const code = useSignal('')
  const action = useAction(
    () => api.call('renewRecoveryCodes', { body: { code: code.value } }),
    ({ recovery_codes }) => {
      void session.refresh()
      onClose()
      onDone(recovery_codes)
    },
  )
  return (
    <ActionDialog
      title="Make new recovery codes"
      confirm="Make new codes"
      action={action}
      but={OF_CODE}
      isReady={code.value.trim() !== ''}
      onClose={onClose}
    >
      <p>The codes that you have now stop working.</p>
      <CodeField
        bind={code}
        hint="From your authenticator app, or a recovery code."
        error={fieldError(action.failure, ...OF_CODE)}
      />
    </ActionDialog>
  )
}

type RecoveryProps = { readonly codes: readonly string[]; readonly onDone: () => void }

function RecoveryCodes({ codes, onDone }: RecoveryProps) {
  return (
    <ShownOnce title="Save your recovery codes" onDone={onDone}>
      <p>
        Each signs you in once if you don't have your phone. You won't see them again. Without phone
        and codes, run <code>hookline setup-link</code> on the computer that runs Hookline.
      </p>
      <CodeBlock what="Recovery codes" text={codes.join('\n')} />
    </ShownOnce>
  )
}

function TurnOff({ onClose }: { readonly onClose: () => void }) {
  const { api, notices, session } = useDashboard()
  const code = useSignal('')
  const action = useAction(
    () => api.call('turnOffSecondFactor', { body: { code: code.value } }),
    () => {
      void session.refresh()
      notices.done('Two-step sign-in is off.')
      onClose()
    },
  )
  return (
    <ActionDialog
      title="Turn off two-step sign-in"
      confirm="Turn off"
      variant="danger"
      action={action}
      but={OF_CODE}
      isReady={code.value.trim() !== ''}
      onClose={onClose}
    >
      <p>Then your password alone signs you in.</p>
      <CodeField
        bind={code}
        hint="From your authenticator app, or a recovery code."
        error={fieldError(action.failure, ...OF_CODE)}
      />
    </ActionDialog>
  )
}
