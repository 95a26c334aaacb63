CREATE TABLE `timeline` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`line_id` text,
	`about` text,
	`detail` text NOT NULL,
	CONSTRAINT "kind_is_a_name" CHECK(`kind` NOT GLOB '*[^a-z._]*'),
	CONSTRAINT "detail_is_json" CHECK(`detail` IS NULL OR json_valid(`detail`))
) STRICT;
--> statement-breakpoint
CREATE INDEX `timeline_by_time` ON `timeline` (`at`);--> statement-breakpoint
CREATE TABLE `timeline_hours` (
	`hour` integer NOT NULL,
	`line_seq` integer NOT NULL,
	`failed` integer NOT NULL,
	`expired` integer NOT NULL,
	`uncertain` integer NOT NULL,
	`confirmed` integer NOT NULL,
	`changes` integer NOT NULL,
	`others` integer NOT NULL,
	PRIMARY KEY(`hour`, `line_seq`)
) STRICT;
--> statement-breakpoint
ALTER TABLE `contact_days` ADD `answered` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `contact_days` ADD `failed` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `contacts` ADD `answered` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `contacts` ADD `failed` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `line_states_by_time` ON `line_states` (`at`,`line_seq`);--> statement-breakpoint
CREATE TRIGGER `timeline_hours_at_insert` AFTER INSERT ON `messages`
WHEN NEW.`status` = 'failed' OR NEW.`status` = 'expired' OR NEW.`status` = 'uncertain'
BEGIN
	INSERT INTO `timeline_hours` VALUES (NEW.`updated_at` / 3600000, NEW.`line_seq`,
		NEW.`status` = 'failed', NEW.`status` = 'expired', NEW.`status` = 'uncertain', 0, 0, 0)
	ON CONFLICT (`hour`, `line_seq`) DO UPDATE SET `failed` = `failed` + excluded.`failed`,
		`expired` = `expired` + excluded.`expired`, `uncertain` = `uncertain` + excluded.`uncertain`,
		`confirmed` = `confirmed` + excluded.`confirmed`;
END;--> statement-breakpoint
CREATE TRIGGER `timeline_hours_at_update` AFTER UPDATE OF `status` ON `messages`
WHEN NEW.`status` <> OLD.`status` AND (NEW.`status` = 'failed' OR NEW.`status` = 'expired' OR NEW.`status` = 'uncertain'
	OR (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
		AND (OLD.`status` = 'failed' OR OLD.`status` = 'uncertain'))
BEGIN
	INSERT INTO `timeline_hours` VALUES (NEW.`updated_at` / 3600000, NEW.`line_seq`,
		NEW.`status` = 'failed', NEW.`status` = 'expired', NEW.`status` = 'uncertain',
		NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read', 0, 0)
	ON CONFLICT (`hour`, `line_seq`) DO UPDATE SET `failed` = `failed` + excluded.`failed`,
		`expired` = `expired` + excluded.`expired`, `uncertain` = `uncertain` + excluded.`uncertain`,
		`confirmed` = `confirmed` + excluded.`confirmed`;
END;--> statement-breakpoint
INSERT INTO `timeline_hours` SELECT `updated_at` / 3600000, `line_seq`, sum(`status` = 'failed'),
	sum(`status` = 'expired'), sum(`status` = 'uncertain'), 0, 0, 0
FROM `messages` INDEXED BY `messages_by_status`
WHERE `status` IN ('failed', 'expired', 'uncertain') GROUP BY 1, 2;--> statement-breakpoint
INSERT INTO `timeline` (`at`, `kind`, `line_id`, `about`, `detail`)
SELECT `created_at`, 'opt_out', `line_id`, `handle`, json_object('source', coalesce(`keyword`, `source`))
FROM `opt_outs` ORDER BY `created_at`;--> statement-breakpoint
UPDATE `contacts` SET `answered` = 1
WHERE `spent_day` >= unixepoch() / 86400 - 30 AND EXISTS (SELECT 1 FROM `conversations` c
	CROSS JOIN `messages` m INDEXED BY `messages_by_conversation` ON m.`conversation_seq` = c.`seq`
	WHERE c.`line_id` = `contacts`.`line_id` AND c.`handle` = `contacts`.`handle` AND m.`direction` = 'inbound');--> statement-breakpoint
UPDATE `contact_days` SET `answered` = (SELECT count(*) FROM `contacts` c
	WHERE c.`line_id` = `contact_days`.`line_id` AND c.`spent_day` = `contact_days`.`day` AND c.`answered` = 1)
WHERE `day` >= unixepoch() / 86400 - 30;