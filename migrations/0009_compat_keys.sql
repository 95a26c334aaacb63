ALTER TABLE `credentials` ADD `made_for` text;--> statement-breakpoint
CREATE INDEX `credentials_made_for` ON `credentials` (`made_for`) WHERE made_for IS NOT NULL;