/** Where Debian's package puts the browser of the tests. */
export const CHROMIUM = '/usr/bin/chromium'
