import { PageHead } from '../components/page-head.tsx'

export function SetupPage() {
  return <PageHead title="Set up Hookline" />
}
