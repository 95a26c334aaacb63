CREATE TABLE `not_relayed` (
	`line_id` text NOT NULL,
	`kind` text NOT NULL,
	`count` integer NOT NULL,
	`since` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`line_id`, `kind`)
) STRICT;
