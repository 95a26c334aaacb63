import { Badge } from '../components/badge.tsx'
import { lineStatusWords } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'

export function LineBadge({ line }: { readonly line: PhoneLine }) {
  const { text, tone, icon } = lineStatusWords(line)
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  )
}
