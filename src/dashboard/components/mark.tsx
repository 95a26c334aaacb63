/** The relay's sign: a text that goes on, from one bubble into the next. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 8v9a6 6 0 0 0 6 6h1a6 6 0 0 0 6-6v-1M18.5 18.5 22 15l3.5 3.5" />
    </svg>
  )
}
