ALTER TABLE `credentials` ADD `conversation_ids` text CONSTRAINT "conversation_ids_is_json" CHECK(`conversation_ids` IS NULL OR json_valid(`conversation_ids`));--> statement-breakpoint
ALTER TABLE `credentials` ADD `lineage` text;--> statement-breakpoint
ALTER TABLE `conversations` ADD `looped_at` integer;--> statement-breakpoint
ALTER TABLE `conversations` ADD `loop_from` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `conversations_looped` ON `conversations` (`looped_at`) WHERE looped_at IS NOT NULL;
