// What `notices` has to say, in the corner of the page; drawn once, by the shell.

import { useDashboard } from '../dashboard.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

export function NoticeList() {
  const { notices } = useDashboard()
  const shown = notices.shown.value
  return (
    <div class="notices">
      <p class="visually-hidden" role="status">
        {notices.heard}
      </p>
      <div role="status">{shown.filter(({ tone }) => tone === 'ok').map(shownNotice)}</div>
      <div role="alert">{shown.filter(({ tone }) => tone === 'bad').map(shownNotice)}</div>
    </div>
  )

  function shownNotice({ id, tone, text }: (typeof shown)[number]) {
    return (
      <div key={id} class={`notice tone-${tone}`}>
        <Icon name={tone === 'ok' ? 'check' : 'warning'} />
        <p>{text}</p>
        <Button look="quiet" icon="cross" isIconOnly onClick={() => notices.close(id)}>
          Close
        </Button>
      </div>
    )
  }
}
