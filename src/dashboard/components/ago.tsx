// <Ago time={message.created_at} />: "5 minutes ago", with the exact time on hover and focus.
// <Ago … isInside /> inside of a link or button, which has the focus itself.

import { useDashboard } from '../dashboard.ts'
import { absoluteTime, relativeTime } from '../time-words.ts'

type Props = {
  /** ISO 8601, as the API tells it. */
  readonly time: string
  readonly isInside?: boolean | undefined
}

export function Ago({ time, isInside = false }: Props) {
  const { clock } = useDashboard()
  const absolute = absoluteTime(time)
  const focus = isInside ? {} : { tabIndex: 0 }
  return (
    <time class="ago" dateTime={time} data-absolute={absolute} {...focus}>
      {relativeTime(time, clock.now.value)}
    </time>
  )
}
