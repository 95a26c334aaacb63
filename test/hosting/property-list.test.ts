import { expect, test } from 'bun:test'

import { propertyList } from '../../src/hosting/property-lists.ts'

test('a property list nests, and its texts cannot become elements', () => {
  const text = propertyList({
    Label: 'a & <b>',
    Yes: true,
    No: false,
    Seconds: 75,
    List: ['one', { deep: 'two' }],
    Empty: {},
    None: [],
  })

  expect(text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>a &amp; &lt;b&gt;</string>
  <key>Yes</key>
  <true/>
  <key>No</key>
  <false/>
  <key>Seconds</key>
  <integer>75</integer>
  <key>List</key>
  <array>
    <string>one</string>
    <dict>
      <key>deep</key>
      <string>two</string>
    </dict>
  </array>
  <key>Empty</key>
  <dict>
  </dict>
  <key>None</key>
  <array>
  </array>
</dict>
</plist>
`)
})
