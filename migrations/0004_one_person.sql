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
CREATE INDEX `merges_by_conversation` ON `merges` (`conversation_id`);