import { PageHead } from '../components/page-head.tsx'

export function WebhooksPage() {
  return <PageHead title="Webhooks" />
}
