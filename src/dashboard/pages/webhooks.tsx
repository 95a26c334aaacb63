// The webhooks: did my system hear about it, and if not, why.

import { useNewView } from '../components/use-new-view.ts'
import { useDashboard } from '../dashboard.ts'
import { WebhookView } from './webhooks-detail.tsx'
import { WebhookList } from './webhooks-list.tsx'

export function WebhooksPage() {
  const { router } = useDashboard()
  const [id = '', tab = '', delivery = null] = router.route.value.path
  useNewView(id)
  return id === '' ? (
    <WebhookList />
  ) : (
    <WebhookView key={id} id={id} tab={tab} delivery={delivery} />
  )
}
