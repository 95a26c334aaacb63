CREATE TABLE `sites` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`position` integer NOT NULL,
	`time_zone` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sites_id_unique` ON `sites` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `sites_name_key_unique` ON `sites` (`name_key`);--> statement-breakpoint
ALTER TABLE `lines` ADD `site_seq` integer REFERENCES sites(seq);--> statement-breakpoint
ALTER TABLE `lines` ADD `held_day` integer;--> statement-breakpoint
ALTER TABLE `lines` ADD `held_until` integer;--> statement-breakpoint
ALTER TABLE `credentials` ADD `site_ids` text CONSTRAINT "site_ids_is_json" CHECK(`site_ids` IS NULL OR json_valid(`site_ids`));--> statement-breakpoint
ALTER TABLE `webhooks` ADD `site_ids` text CONSTRAINT "site_ids_is_json" CHECK(`site_ids` IS NULL OR json_valid(`site_ids`));--> statement-breakpoint
ALTER TABLE `dashboard_members` ADD `site_ids` text CONSTRAINT "site_ids_is_json" CHECK(`site_ids` IS NULL OR json_valid(`site_ids`));