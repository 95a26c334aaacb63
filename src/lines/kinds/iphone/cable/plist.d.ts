// The package comes without types. What it gives back is looked at before it is believed.
declare module 'plist' {
  export function parse(xml: string): unknown
  export function build(value: unknown, options: { readonly pretty: boolean }): string
}
