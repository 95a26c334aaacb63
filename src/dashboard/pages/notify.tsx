import { useSignal } from '@preact/signals'

import { Callout } from '../components/callout.tsx'
import { Switch } from '../components/form.tsx'
import { Dialog, DialogButton } from '../components/modal.tsx'
import { chooseNotifications, notificationChoice } from '../notifications.ts'

/** Browsers allow asking for permission only after a click. */
export function NotifyButton() {
  const dialog = (onClose: () => void) => <NotifyDialog onClose={onClose} />
  return (
    <DialogButton variant="quiet" icon="notification" isIconOnly dialog={dialog}>
      Notifications
    </DialogButton>
  )
}

function NotifyDialog({ onClose }: { readonly onClose: () => void }) {
  const isAvailable = 'Notification' in window && window.isSecureContext
  const permission = useSignal(isAvailable ? Notification.permission : 'denied')
  const choice = useSignal(permission.value === 'granted' ? notificationChoice() : null)
  const choose = (next: typeof choice.value) => {
    chooseNotifications(next)
    choice.value = next
  }
  const turn = async (isOn: boolean) => {
    if (isOn) permission.value = await Notification.requestPermission()
    choose(isOn && permission.value === 'granted' ? 'text' : null)
  }
  return (
    <Dialog title="Notifications" onClose={onClose}>
      <p>Shown by this browser while Hookline is open in a tab that you are not looking at.</p>
      {!isAvailable && (
        <Callout tone="warn">
          Browsers show notifications only for pages opened over HTTPS or on this computer.
        </Callout>
      )}
      {isAvailable && permission.value === 'denied' && (
        <Callout tone="warn" role="alert">
          This browser blocks notifications for this page. Allow them in its site settings.
        </Callout>
      )}
      {isAvailable && (
        <Switch
          label="Notify me of new messages"
          isOn={choice.value !== null}
          onChange={(isOn) => void turn(isOn)}
        />
      )}
      {choice.value !== null && (
        <Switch
          label="Show the text of messages"
          isOn={choice.value === 'text'}
          onChange={(isOn) => choose(isOn ? 'text' : 'name')}
        />
      )}
    </Dialog>
  )
}
