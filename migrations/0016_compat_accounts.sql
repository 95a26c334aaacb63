ALTER TABLE `credentials` ADD `sealed_secret` blob;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `key_id` text;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `is_callback` integer DEFAULT false NOT NULL;