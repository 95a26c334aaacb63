import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import { addCopyButton } from './copy-button.ts'
import { LANGUAGES, type Call } from './snippets.ts'

/** Shared by all open operations. */
const language = signal('curl')

export function RequestSnippets({ call }: { readonly call: Call }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (box.current !== null) addCopyButton(box.current)
  }, [])
  return (
    <section aria-label="Request">
      <div class="snippet-tabs">
        <h4>Request</h4>
        {Object.keys(LANGUAGES).map((name) => (
          <button
            key={name}
            type="button"
            class="button"
            aria-pressed={name === language.value}
            onClick={() => (language.value = name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="code" ref={box}>
        <pre tabIndex={0}>
          <code>{LANGUAGES[language.value]?.(call)}</code>
        </pre>
      </div>
    </section>
  )
}
