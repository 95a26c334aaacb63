/**
 * The only AppleScript that is ever run: `osascript - <mode> <route> <key> <text>`, read on standard
 * input. What varies comes as an argument, so nothing needs quoting and nothing can be injected; an
 * argument after the `-` may itself begin with one. 20,000 characters are at most 80 kB of UTF-8;
 * macOS takes 1 MB of arguments and environment (ARG_MAX). ASCII only: osascript guesses the encoding
 * of what it reads.
 *
 * `mode` is `account`, `check` (account and resolve) or `send` (all three stages), `route` is `chat`
 * or `participant`, `key` the chat's guid or the handle. It prints one line, `stage TAB number TAB
 * detail`: `account 0 enabled,connected`, `done 0`, or the stage that failed and its number. A number
 * on standard error therefore comes from before or outside the stages.
 *
 * - `get id of` makes Messages.app look the chat up before the send (imsg): `chat id` alone only names it.
 * - `participant` of an account is a word since macOS 11, `account` itself since 13 (BlueBubbles).
 * - The reply to `send` is not used: since macOS 26 reading it fails although it was sent (imessage-max).
 */
export const MESSAGES_SCRIPT = `on run argv
	set theMode to item 1 of argv
	set theRoute to item 2 of argv
	set theKey to item 3 of argv
	set theText to item 4 of argv
	set theDetail to ""
	try
		tell application "Messages"
			with timeout of 25 seconds
				set theAccount to 1st account whose service type = iMessage
				if theMode is "account" then
					set theDetail to "disabled"
					if (enabled of theAccount) is true then set theDetail to "enabled"
					if (connection status of theAccount) is connected then
						set theDetail to theDetail & ",connected"
					else
						set theDetail to theDetail & ",disconnected"
					end if
				end if
			end timeout
		end tell
	on error number theNumber
		return my lineOf("account", theNumber, "")
	end try
	if theMode is "account" then return my lineOf("account", 0, theDetail)
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
	if theMode is not "send" then return my lineOf("done", 0, "")
	try
		tell application "Messages"
			with timeout of 25 seconds
				send theText to theTarget
			end timeout
		end tell
	on error number theNumber
		return my lineOf("send", theNumber, "")
	end try
	return my lineOf("done", 0, "")
end run

on lineOf(theStage, theNumber, theDetail)
	return theStage & tab & (theNumber as text) & tab & theDetail
end lineOf
`
