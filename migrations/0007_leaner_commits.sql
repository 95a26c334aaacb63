DROP INDEX `conversations_by_last`;--> statement-breakpoint
CREATE TABLE `__new_untold_events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL,
	`events` text NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_untold_events` SELECT `seq`, `created_at`, json_array(json_array(0, `name`, `message_id`, 0)) FROM `untold_events`;--> statement-breakpoint
DROP TABLE `untold_events`;--> statement-breakpoint
ALTER TABLE `__new_untold_events` RENAME TO `untold_events`;