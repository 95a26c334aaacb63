// The package has no types of its own. Its results are checked before they are used.
declare module 'plist' {
  export function parse(xml: string): unknown
  export function build(value: unknown, options: { readonly pretty: boolean }): string
}
