import { PageHead } from '../components/page-head.tsx'

export function LogInPage() {
  return <PageHead title="Log in" />
}
