import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHead } from '../components/page-head.tsx'

/** What an address leads to that names no page. */
export function UnknownPage() {
  return (
    <>
      <PageHead title="Page not found" />
      <Card>
        <EmptyState
          icon="search"
          title="There is nothing at this address"
          action={
            <LinkButton look="main" href={href('home')}>
              Go to Home
            </LinkButton>
          }
        >
          The link may be mistyped, or from another version of Hookline.
        </EmptyState>
      </Card>
    </>
  )
}
