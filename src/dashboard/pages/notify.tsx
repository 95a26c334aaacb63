import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { Callout } from '../components/callout.tsx'
import { Switch } from '../components/form.tsx'
import { Dialog } from '../components/modal.tsx'
import { chooseNotifications, notificationChoice } from '../notifications.ts'
import { COMMON } from '../words/common.ts'
import { NOTIFY } from '../words/conversations.ts'

/** The browser's notifications: asked for by a click only. */
export function NotifyButton() {
  const isOpen = useSignal(false)
  return (
    <>
      <Button look="quiet" icon="notification" isIconOnly onClick={() => (isOpen.value = true)}>
        {NOTIFY.title}
      </Button>
      {isOpen.value && <NotifyDialog onClose={() => (isOpen.value = false)} />}
    </>
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
    <Dialog
      title={NOTIFY.title}
      onClose={onClose}
      actions={<Button onClick={onClose}>{COMMON.done}</Button>}
    >
      <p>{NOTIFY.about}</p>
      {!isAvailable && <Callout tone="warn">{NOTIFY.unavailable}</Callout>}
      {isAvailable && permission.value === 'denied' && (
        <Callout tone="warn" role="alert">
          {NOTIFY.denied}
        </Callout>
      )}
      {isAvailable && (
        <Switch
          label={NOTIFY.on}
          isOn={choice.value !== null}
          onChange={(isOn) => void turn(isOn)}
        />
      )}
      {choice.value !== null && (
        <Switch
          label={NOTIFY.text}
          isOn={choice.value === 'text'}
          onChange={(isOn) => choose(isOn ? 'text' : 'name')}
        />
      )}
    </Dialog>
  )
}
