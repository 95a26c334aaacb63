/** What a property list can hold here. Numbers are whole. */
export type PropertyValue =
  | string
  | number
  | boolean
  | readonly PropertyValue[]
  | { readonly [key: string]: PropertyValue }

const HEAD = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
  '<plist version="1.0">',
]

/** The text of a property list in XML, as launchd, codesign and bundles read it. */
export function propertyList(root: { readonly [key: string]: PropertyValue }): string {
  return [...HEAD, ...element(root, ''), '</plist>', ''].join('\n')
}

function element(value: PropertyValue, indent: string): readonly string[] {
  if (typeof value === 'string') return [`${indent}<string>${escaped(value)}</string>`]
  if (typeof value === 'number') return [`${indent}<integer>${value}</integer>`]
  if (typeof value === 'boolean') return [`${indent}<${value ? 'true' : 'false'}/>`]
  const inner = `${indent}  `
  if (isList(value)) {
    const elements = value.flatMap((one) => element(one, inner))
    return [`${indent}<array>`, ...elements, `${indent}</array>`]
  }
  const pairs = Object.entries(value).flatMap(([key, one]) => [
    `${inner}<key>${escaped(key)}</key>`,
    ...element(one, inner),
  ])
  return [`${indent}<dict>`, ...pairs, `${indent}</dict>`]
}

/** Unlike Array.isArray, it knows a readonly array for one. */
function isList(value: object): value is readonly PropertyValue[] {
  return Array.isArray(value)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
