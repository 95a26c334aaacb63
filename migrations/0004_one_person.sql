CREATE TABLE `merges` (
	`seq` integer PRIMARY KEY NOT NULL,
	`line_id` text NOT NULL,
	`spelling` text NOT NULL,
	`handle` text NOT NULL,
	`conversation_id` text NOT NULL,
	`before` text NOT NULL,
	`merged_at` integer NOT NULL,
	`separated_at` integer,
	CONSTRAINT "before_is_json" CHECK(`before` IS NULL OR json_valid(`before`))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `merges_by_spelling` ON `merges` (`spelling`,`line_id`);--> statement-breakpoint
CREATE INDEX `merges_by_handle` ON `merges` (`handle`,`line_id`);--> statement-breakpoint
CREATE INDEX `merges_by_conversation` ON `merges` (`conversation_id`);--> statement-breakpoint
DROP TRIGGER `message_search_at_update`;--> statement-breakpoint
DROP TRIGGER `conversation_search_at_rename`;--> statement-breakpoint
DROP TRIGGER `people_search_at_insert`;--> statement-breakpoint
DROP TRIGGER `people_search_at_update`;--> statement-breakpoint
CREATE TRIGGER `message_search_at_update` AFTER UPDATE OF `text` ON `messages`
WHEN NEW.`text` <> OLD.`text`
	AND NEW.`seq` <= (SELECT `seq` FROM `search_progress` WHERE `name` = 'messages')
BEGIN
	DELETE FROM `message_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `message_search` (rowid, words) VALUES (NEW.`seq`, iif(NEW.`text` GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*', replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(NEW.`text`, 'ø', 'o'), 'Ø', 'o'), 'ǿ', 'o'), 'Ǿ', 'o'), 'æ', 'ae'), 'Æ', 'ae'), 'ǽ', 'ae'), 'Ǽ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'ß', 'ss'), 'ẞ', 'ss'), 'þ', 'th'), 'Þ', 'th'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd'), 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŧ', 't'), 'Ŧ', 't'), 'ŋ', 'n'), 'Ŋ', 'n'), 'ı', 'i'), '‘', ''''), '’', ''''), '‛', ''''), 'ʼ', ''''), 'ʹ', ''''), 'ʻ', ''''), '′', ''''), '`', ''''), '´', ''''), '＇', ''''), '‐', '-'), '‑', '-'), '‒', '-'), '–', '-'), '—', '-'), '―', '-'), '−', '-'), NEW.`text`));
END;--> statement-breakpoint
CREATE TRIGGER `conversation_search_at_rename` AFTER UPDATE OF `name` ON `groups`
WHEN NEW.`name` IS NOT OLD.`name`
	AND NEW.`seq` <= (SELECT `seq` FROM `search_progress` WHERE `name` = 'conversations')
BEGIN
	DELETE FROM `conversation_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `conversation_search` (rowid, words)
	SELECT `seq`, iif((`handle` || ' ' || coalesce(NEW.`name`, '')) GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*', replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace((`handle` || ' ' || coalesce(NEW.`name`, '')), 'ø', 'o'), 'Ø', 'o'), 'ǿ', 'o'), 'Ǿ', 'o'), 'æ', 'ae'), 'Æ', 'ae'), 'ǽ', 'ae'), 'Ǽ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'ß', 'ss'), 'ẞ', 'ss'), 'þ', 'th'), 'Þ', 'th'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd'), 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŧ', 't'), 'Ŧ', 't'), 'ŋ', 'n'), 'Ŋ', 'n'), 'ı', 'i'), '‘', ''''), '’', ''''), '‛', ''''), 'ʼ', ''''), 'ʹ', ''''), 'ʻ', ''''), '′', ''''), '`', ''''), '´', ''''), '＇', ''''), '‐', '-'), '‑', '-'), '‒', '-'), '–', '-'), '—', '-'), '―', '-'), '−', '-'), (`handle` || ' ' || coalesce(NEW.`name`, ''))) FROM `conversations` WHERE `seq` = NEW.`seq`;
END;--> statement-breakpoint
CREATE TRIGGER `conversation_search_at_new_handle` AFTER UPDATE OF `handle` ON `conversations`
WHEN NEW.`handle` <> OLD.`handle`
	AND NEW.`seq` <= (SELECT `seq` FROM `search_progress` WHERE `name` = 'conversations')
BEGIN
	DELETE FROM `conversation_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `conversation_search` (rowid, words) VALUES (NEW.`seq`, iif(NEW.`handle` GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*', replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(NEW.`handle`, 'ø', 'o'), 'Ø', 'o'), 'ǿ', 'o'), 'Ǿ', 'o'), 'æ', 'ae'), 'Æ', 'ae'), 'ǽ', 'ae'), 'Ǽ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'ß', 'ss'), 'ẞ', 'ss'), 'þ', 'th'), 'Þ', 'th'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd'), 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŧ', 't'), 'Ŧ', 't'), 'ŋ', 'n'), 'Ŋ', 'n'), 'ı', 'i'), '‘', ''''), '’', ''''), '‛', ''''), 'ʼ', ''''), 'ʹ', ''''), 'ʻ', ''''), '′', ''''), '`', ''''), '´', ''''), '＇', ''''), '‐', '-'), '‑', '-'), '‒', '-'), '–', '-'), '—', '-'), '―', '-'), '−', '-'), NEW.`handle`));
END;--> statement-breakpoint
CREATE TRIGGER `people_search_at_insert` AFTER INSERT ON `people`
BEGIN
	INSERT INTO `people_search` (rowid, words) VALUES (NEW.`seq`, iif((NEW.`name` || ' ' || NEW.`handle` || ' ' || coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), '')) GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*', replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace((NEW.`name` || ' ' || NEW.`handle` || ' ' || coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), '')), 'ø', 'o'), 'Ø', 'o'), 'ǿ', 'o'), 'Ǿ', 'o'), 'æ', 'ae'), 'Æ', 'ae'), 'ǽ', 'ae'), 'Ǽ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'ß', 'ss'), 'ẞ', 'ss'), 'þ', 'th'), 'Þ', 'th'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd'), 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŧ', 't'), 'Ŧ', 't'), 'ŋ', 'n'), 'Ŋ', 'n'), 'ı', 'i'), '‘', ''''), '’', ''''), '‛', ''''), 'ʼ', ''''), 'ʹ', ''''), 'ʻ', ''''), '′', ''''), '`', ''''), '´', ''''), '＇', ''''), '‐', '-'), '‑', '-'), '‒', '-'), '–', '-'), '—', '-'), '―', '-'), '−', '-'), (NEW.`name` || ' ' || NEW.`handle` || ' ' || coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), ''))));
END;--> statement-breakpoint
CREATE TRIGGER `people_search_at_update` AFTER UPDATE ON `people`
BEGIN
	DELETE FROM `people_search` WHERE rowid = NEW.`seq`;
	INSERT INTO `people_search` (rowid, words) VALUES (NEW.`seq`, iif((NEW.`name` || ' ' || NEW.`handle` || ' ' || coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), '')) GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*', replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace((NEW.`name` || ' ' || NEW.`handle` || ' ' || coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), '')), 'ø', 'o'), 'Ø', 'o'), 'ǿ', 'o'), 'Ǿ', 'o'), 'æ', 'ae'), 'Æ', 'ae'), 'ǽ', 'ae'), 'Ǽ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'ß', 'ss'), 'ẞ', 'ss'), 'þ', 'th'), 'Þ', 'th'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd'), 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŧ', 't'), 'Ŧ', 't'), 'ŋ', 'n'), 'Ŋ', 'n'), 'ı', 'i'), '‘', ''''), '’', ''''), '‛', ''''), 'ʼ', ''''), 'ʹ', ''''), 'ʻ', ''''), '′', ''''), '`', ''''), '´', ''''), '＇', ''''), '‐', '-'), '‑', '-'), '‒', '-'), '–', '-'), '—', '-'), '―', '-'), '−', '-'), (NEW.`name` || ' ' || NEW.`handle` || ' ' || coalesce((SELECT group_concat(`value`, ' ') FROM json_each(NEW.`tags`)), ''))));
END;--> statement-breakpoint
UPDATE `people` SET `name_key` = iif(`name_key` GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*', replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(`name_key`, 'ø', 'o'), 'Ø', 'o'), 'ǿ', 'o'), 'Ǿ', 'o'), 'æ', 'ae'), 'Æ', 'ae'), 'ǽ', 'ae'), 'Ǽ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'ß', 'ss'), 'ẞ', 'ss'), 'þ', 'th'), 'Þ', 'th'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd'), 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŧ', 't'), 'Ŧ', 't'), 'ŋ', 'n'), 'Ŋ', 'n'), 'ı', 'i'), '‘', ''''), '’', ''''), '‛', ''''), 'ʼ', ''''), 'ʹ', ''''), 'ʻ', ''''), '′', ''''), '`', ''''), '´', ''''), '＇', ''''), '‐', '-'), '‑', '-'), '‒', '-'), '–', '-'), '—', '-'), '―', '-'), '−', '-'), `name_key`) WHERE `name` || `tags` GLOB '*[øØǿǾæÆǽǼœŒßẞþÞłŁđĐðÐħĦŧŦŋŊı‘’‛ʼʹʻ′`´＇‐‑‒–—―−]*';--> statement-breakpoint
INSERT INTO `search_progress` SELECT `name` || '_in_usual_letters', `seq` FROM `search_progress`;