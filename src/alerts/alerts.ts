// Alerts the owner when something breaks: the watch finds causes and raises alerts, and notices take them to channels.

import type { HealthFinding } from '../api/health.ts'
import type { NoticeId } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'
import type { Seal } from '../system/seal.ts'
import { Signal } from '../system/signal.ts'
import type { Post } from '../webhooks/post.ts'
import type { PublishOther, Subscribers } from '../webhooks/publish.ts'
import { createAlertActions } from './actions.ts'
import type { AlertLine } from './causes.ts'
import { AlertNotices, type Deliver } from './notices.ts'
import { createPosts, pauseMs } from './posts.ts'
import { createTexts, type AcceptText } from './texts.ts'
import { undeliveredFindings } from './undelivered.ts'
import { AlertWatch } from './watch.ts'

export function createAlerts(
  core: Core,
  given: {
    readonly health: { list(): Promise<readonly HealthFinding[]> }
    readonly lines: () => readonly AlertLine[]
    readonly publish: Pick<PublishOther, 'alert'>
    readonly subscribers: Pick<Subscribers, 'isWanted' | 'onChange'>
    readonly onLineChange: (listener: () => void) => void
    readonly accept: AcceptText
    /** May call the relay's own network, as a monitor may. */
    readonly post: Post
    readonly seal: Seal
  },
) {
  const noticeSignal = new Signal()
  const endings = new Map<NoticeId, () => void>()
  const lookSignal = new Signal()
  given.subscribers.onChange(() => lookSignal.notify())
  given.onLineChange(() => lookSignal.notify())
  const { health, lines, publish, subscribers, accept, post, seal } = given
  const texts = createTexts({ lines, accept })
  const posts = createPosts(core, { post, seal })
  const deliver: Deliver = (order) => (order.channel.kind === 'text' ? texts(order) : posts(order))
  return {
    actions: createAlertActions(core, { lines, seal, noticeSignal, endings }),
    services: [
      new AlertWatch(core, { health, lines, publish, subscribers, lookSignal, noticeSignal }),
      new AlertNotices(core, { noticeSignal, endings, deliver, pauseMs }),
    ],
    findings: () => undeliveredFindings(core),
  }
}
