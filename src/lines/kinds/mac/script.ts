/** Time limit of the Apple event that sends a file. */
export const FILE_SECONDS = 300

/**
 * The only AppleScript that is ever run: `osascript -l AppleScript -e <this>`. What varies comes as one
 * JSON object on standard input, so that neither text nor number stands in an argument, which every
 * user of the machine can read, and nothing needs quoting or can be injected. Foundation reads it
 * (NSFileHandle and NSJSONSerialization, by the bridge that AppleScript has since macOS 10.10): public
 * scripts do the same, and a text stays what it was, whatever its characters. ASCII only: osascript
 * guesses the encoding of a script.
 *
 * `mode` is `account`, `check` (account and resolve), `send` or `send_file` (all three stages), `route` is
 * `chat` or `participant`, `key` the chat's guid or the handle, `service` the one of the account that
 * sends, `path` that of the file. It prints one line, `stage TAB number TAB
 * detail`: `account 0 enabled,connected iMessage,enabled,connected SMS,enabled,connected` (the account
 * that sends, then each that there is), `done 0`, or the stage that failed and its number; `order` is
 * the reading of the input. A number on standard error therefore comes from outside the stages.
 *
 * - Every iMessage account is asked, and an enabled one is taken: an old one that is switched off may
 *   stand before it. A property that fails is `unknown` and stops nothing: public scripts, mautrix'
 *   among them, put a \`try\` around each, because a version of macOS may lack the word.
 * - `get id of` makes Messages.app look the chat up before the send (imsg): `chat id` alone only names it.
 * - `participant` of an account is a word since macOS 11, `account` itself since 13 (BlueBubbles).
 * - The file is made before Messages.app is spoken to, which would take `POSIX file` for a word of its own
 *   (imessage-max); it is a word of the scripting additions, which a script with a framework must name.
 * - `send` of a file takes minutes on macOS 26 (hermes-agent): Messages answers once it has taken it.
 * - The account of SMS is that of Text Message Forwarding.
 * - The reply to `send` is not used: since macOS 26 reading it fails although it was sent (imessage-max).
 */
export const MESSAGES_SCRIPT = `use framework "Foundation"
use scripting additions

on run
	try
		set theInput to current application's NSFileHandle's fileHandleWithStandardInput()'s readDataToEndOfFile()
		set theOrder to current application's NSJSONSerialization's JSONObjectWithData:theInput options:0 |error|:(missing value)
		set theMode to (theOrder's objectForKey:"mode") as text
		set theRoute to (theOrder's objectForKey:"route") as text
		set theKey to (theOrder's objectForKey:"key") as text
		set theService to (theOrder's objectForKey:"service") as text
		set theContent to (theOrder's objectForKey:"text") as text
		set theLimit to 25
		if theMode is "send_file" then
			set thePath to (theOrder's objectForKey:"path") as text
			set theContent to POSIX file thePath
			set theLimit to ${FILE_SECONDS}
		end if
	on error number theNumber
		return my lineOf("order", theNumber, "")
	end try
	try
		tell application "Messages"
			with timeout of 25 seconds
				if theService is "SMS" then
					set theAccounts to every account whose service type = SMS
				else
					set theAccounts to every account whose service type = iMessage
				end if
				if theAccounts is {} then error number -1719
				set theAccount to item 1 of theAccounts
				if (count of theAccounts) > 1 then set theAccount to my bestOf(theAccounts)
			end timeout
		end tell
	on error number theNumber
		return my lineOf("account", theNumber, "")
	end try
	if theMode is "account" then return my lineOf("account", 0, my stateOf(theAccount) & my everyState())
	try
		tell application "Messages"
			with timeout of 25 seconds
				if theRoute is "chat" then
					set theTarget to chat id theKey
					get id of theTarget
				else
					set theTarget to participant theKey of theAccount
				end if
			end timeout
		end tell
	on error number theNumber
		return my lineOf("resolve", theNumber, "")
	end try
	if theMode is "check" then return my lineOf("done", 0, "")
	try
		tell application "Messages"
			with timeout of theLimit seconds
				send theContent to theTarget
			end timeout
		end tell
	on error number theNumber
		return my lineOf("send", theNumber, "")
	end try
	return my lineOf("done", 0, "")
end run

on bestOf(theAccounts)
	set theBest to item 1 of theAccounts
	set theState to my enabledOf(theBest)
	repeat with theIndex from 2 to count of theAccounts
		set theOther to item theIndex of theAccounts
		set theOtherState to my enabledOf(theOther)
		if (theOtherState is "enabled" and theState is not "enabled") or (theOtherState is "unknown" and theState is "disabled") then
			set theBest to theOther
			set theState to theOtherState
		end if
	end repeat
	return theBest
end bestOf

on everyState()
	set theStates to ""
	try
		tell application "Messages"
			with timeout of 10 seconds
				set theAccounts to every account
			end timeout
		end tell
		repeat with theIndex from 1 to count of theAccounts
			set theAccount to item theIndex of theAccounts
			set theStates to theStates & " " & my serviceOf(theAccount) & "," & my stateOf(theAccount)
		end repeat
	end try
	return theStates
end everyState

on stateOf(theAccount)
	return my enabledOf(theAccount) & "," & my connectionOf(theAccount)
end stateOf

on enabledOf(theAccount)
	try
		tell application "Messages"
			with timeout of 10 seconds
				set theValue to enabled of theAccount
			end timeout
		end tell
		if theValue is true then return "enabled"
		if theValue is false then return "disabled"
	end try
	return "unknown"
end enabledOf

on connectionOf(theAccount)
	try
		tell application "Messages"
			with timeout of 10 seconds
				set theValue to connection status of theAccount
				if theValue is connected then return "connected"
			end timeout
		end tell
		if theValue is not missing value then return "disconnected"
	end try
	return "unknown"
end connectionOf

on serviceOf(theAccount)
	try
		tell application "Messages"
			with timeout of 10 seconds
				return (service type of theAccount) as text
			end timeout
		end tell
	end try
	return "unknown"
end serviceOf

on lineOf(theStage, theNumber, theDetail)
	return theStage & tab & (theNumber as text) & tab & theDetail
end lineOf
`
