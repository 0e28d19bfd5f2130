/* `harness clean`: what earlier runs left behind. Never a sealed bundle, never a run that holds its lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/image.h"
#include "core/fd.h"
#include "runner/cluster.h"
#include "runner/run.h"
#include "runner/sweep.h"

static int run(const struct options *options, struct error **err)
{
	cleanup_engine struct engine *engine = NULL;
	struct swept swept = { 0 };
	unsigned folders = 0, runs = 0, databases = 0;
	int status;

	if (options->words_count)
		return error_set(err, ERROR_USAGE, "clean takes no words");
	if (geteuid() != 0)
		return error_set(err, ERROR_REFUSED, "clean needs root, as run does: use sudo");
	if (store_sweep_arms(STORE_TEMPORARY, NULL, &folders, err) < 0 ||
	    store_sweep_runs(options->out, &runs, err) < 0 || sweep_processes(&swept.processes, err) < 0)
		return -1;
	if (engine_open(options->socket, &engine, err) < 0 || engine_negotiate(engine, err) < 0)
		return error_wrap(err,
				  "%u folders and %u processes were removed, but containers could not be looked for",
				  folders + runs, swept.processes);
	status = sweep_containers(engine, &swept, err);
	if (status == 0)
		status = sweep_images(engine, &swept, err);
	if (status == 0)
		status = cluster_sweep(cluster_folder(options->postgres), NULL, &databases, err);
	printf("removed: %u containers, %u images, %u processes, %u temporary folders, %u unsealed runs\n",
	       swept.containers, swept.images, swept.processes, folders, runs);
	if (databases)
		printf("removed: %u databases of orders\n", databases);
	if (swept.kept)
		printf("kept: %u containers of runs that are under way\n", swept.kept);
	return status < 0 ? status : EXIT_PASS;
}

const struct verb verb_clean = {
	.name = "clean",
	.words = "",
	.title = "remove what earlier runs left: containers, images, processes, temporary folders",
	.text = "Finds containers by their label, folders by their lock, databases by their run. A sealed bundle "
		"stays, and so does a run "
		"that is\n"
		"under way.",
	.engine = true,
	.run = run,
};
