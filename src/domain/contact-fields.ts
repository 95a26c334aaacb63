// The fields of a contact. The API's schemas, storage, search, CSV and vCard files, the dashboard's form and the
// command line's options are derived from them: a new field needs a row here and a column with its migration.

/** The data that the owner stores about a person. */
export type ContactFields = {
  readonly name: string
  readonly note: string | null
  readonly tags: readonly string[]
}

export type ContactField = keyof ContactFields

export type FieldRow = {
  /** One line, a text of several lines, or a list of short texts. */
  readonly kind: 'line' | 'text' | 'list'
  readonly isRequired?: true
  readonly label: string
  /** Most characters of a text, or of each text of a list. */
  readonly lengthMax: number
  readonly example?: string
  /**
   * True if it is searched: then the triggers of `people_search` have it (the latest are in `migrations/0004`, made
   * with `inUsualLetters`), and a migration replaces them.
   */
  readonly isSearched: boolean
  /** Names of its column in a CSV file, in lower case. */
  readonly csv: RegExp
  /** Its property in a vCard. */
  readonly vcard: string
}

/** In the order of the columns of an exported file, which programs read by position: a new row comes last. */
export const CONTACT_FIELDS: Readonly<Record<ContactField, FieldRow>> = {
  name: {
    kind: 'line',
    isRequired: true,
    label: 'Name',
    lengthMax: 200,
    example: 'Anna Miller',
    isSearched: true,
    csv: /^(?:(?:full|display|contact)[ _]?)?name$|^anzeigename$/,
    vcard: 'FN',
  },
  note: {
    kind: 'text',
    label: 'Note',
    lengthMax: 2_000,
    isSearched: false,
    csv: /^(?:notes?|notiz(?:en)?|comments?|bemerkung(?:en)?)$/,
    vcard: 'NOTE',
  },
  tags: {
    kind: 'list',
    label: 'Tags',
    lengthMax: 40,
    example: 'supplier',
    isSearched: true,
    csv: /^(?:tags?|labels|groups?|group membership|categories|gruppen?|kategorien)$/,
    vcard: 'CATEGORIES',
  },
}

/** Most texts in a list. */
export const LIST_LENGTH_MAX = 20

// The keys of the table are its names.
export const CONTACT_FIELD_NAMES = Object.keys(CONTACT_FIELDS) as readonly ContactField[]

/** All fields except the name. */
export const OTHER_FIELDS = CONTACT_FIELD_NAMES.filter((field) => field !== 'name')

/** A contact from the texts that `textsOf` returns for each field; blank texts are ignored. */
export function contactFields(
  textsOf: (row: FieldRow, name: ContactField) => readonly string[],
): ContactFields {
  const entries = CONTACT_FIELD_NAMES.map((name) => {
    const row = CONTACT_FIELDS[name]
    const texts = textsOf(row, name)
    const filled = texts.filter((text) => text.trim() !== '')
    if (row.kind === 'list') return [name, filled]
    const text = row.kind === 'line' ? filled[0] : texts.join('\n')
    const empty = row.isRequired === true ? '' : null
    return [name, filled.length === 0 ? empty : text]
  })
  return Object.fromEntries(entries) as ContactFields // Each row's kind matches its type.
}

/** The texts in a field's value; none if it is empty. */
export function textsIn(value: string | readonly string[] | null | undefined): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return value ?? []
}

/** The texts in a field as a person types it; a list is separated by commas. */
export function typedTexts({ kind }: FieldRow, typed: string): readonly string[] {
  return kind === 'list' ? typed.split(',').map((text) => text.trim()) : [typed]
}
